/* Asks so many questions, one after the other; each has to be answered. */
#include <stdio.h>
#include <stdlib.h>

#include "askr.h"

int main(int count, char **words) {
    for (int left = count > 1 ? atoi(words[1]) : 1; left > 0; left--) {
        char answer[16];
        struct askr_ask ask = askr_question("next?", answer, sizeof answer);
        int error = askr_agent_ask(&ask);
        if (error != 0) {
            fprintf(stderr, "asks: error %d\n", error);
            return 1;
        }
    }
    return 0;
}
