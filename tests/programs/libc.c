/* A program of the host: needs a dynamic linker, which the guest has not. */
int main(void) {
    return 0;
}
