/* Names: directories, links, rename, paths, the working directory. */
#include "conformance.h"

static struct stat facts;
static char text[2 * PAGE];

static long mkdir_(const char *path) { return call(SYS_mkdir, path, 0755); }
static long exists(const char *path) { return call(SYS_lstat, path, &facts); }

static void directories(void) {
    is("mkdir", mkdir_("d"));
    is("mkdir again", mkdir_("d"));
    is("mkdir with a slash", mkdir_("slash/"));
    is("mkdir of an empty path", mkdir_(""));
    is("mkdir in a missing directory", mkdir_("none/d"));
    make_file("f", "file");
    is("mkdir over a file", mkdir_("f"));
    is("mkdir below a file", mkdir_("f/d"));
    is("mkdir of .", mkdir_("."));
    is("mkdir of ..", mkdir_(".."));
    is("mkdir of the root", mkdir_("/"));
    is("mkdir of d/.", mkdir_("d/."));
    is("mkdir of missing/.", mkdir_("none/."));
    call(SYS_symlink, "nowhere", "dangling");
    is("mkdir over a dangling link", mkdir_("dangling"));
    call(SYS_mkdir, "tight", 0700), exists("tight");
    say("mode with 0700: %o", facts.st_mode);
    call(SYS_mkdir, "wide", 01777), exists("wide");
    say("mode with 01777: %o", facts.st_mode);
    is("mkdirat", call(SYS_mkdirat, AT_FDCWD, "d/sub", 0755));
    is("mkdirat with a bad descriptor", call(SYS_mkdirat, 77, "x", 0755));
    is("rmdir of one with entries", call(SYS_rmdir, "d"));
    is("rmdir of a file", call(SYS_rmdir, "f"));
    is("rmdir of what is missing", call(SYS_rmdir, "none"));
    is("rmdir of an empty path", call(SYS_rmdir, ""));
    is("rmdir below a file", call(SYS_rmdir, "f/x"));
    is("rmdir of .", call(SYS_rmdir, "."));
    is("rmdir of d/sub/.", call(SYS_rmdir, "d/sub/."));
    is("rmdir of d/sub/..", call(SYS_rmdir, "d/sub/.."));
    is("rmdir of the root", call(SYS_rmdir, "/"));
    call(SYS_symlink, "slash", "to-slash");
    is("rmdir of a link", call(SYS_rmdir, "to-slash"));
    is("rmdir of a link with a slash", call(SYS_rmdir, "to-slash/"));
    is("rmdir with a slash", call(SYS_rmdir, "slash/"));
    is("rmdir", call(SYS_rmdir, "d/sub"));
    is("rmdir again", call(SYS_rmdir, "d/sub"));
    is("unlinkat with AT_REMOVEDIR", (mkdir_("d/sub"), call(SYS_unlinkat, AT_FDCWD, "d/sub", AT_REMOVEDIR)));
    is("unlinkat with AT_REMOVEDIR of a file", call(SYS_unlinkat, AT_FDCWD, "f", AT_REMOVEDIR));
    is("unlinkat of a directory", call(SYS_unlinkat, AT_FDCWD, "d", 0));
    is("unlinkat with a flag that nobody knows", call(SYS_unlinkat, AT_FDCWD, "f", 1));
}

static void unlinking(void) {
    is("unlink", call(SYS_unlink, "f"));
    is("unlink again", call(SYS_unlink, "f"));
    is("unlink of a directory", call(SYS_unlink, "d"));
    is("unlink of a directory with a slash", call(SYS_unlink, "d/"));
    is("unlink of an empty path", call(SYS_unlink, ""));
    is("unlink of .", call(SYS_unlink, "."));
    is("unlink of the root", call(SYS_unlink, "/"));
    make_file("f", "file");
    is("unlink of a file with a slash", call(SYS_unlink, "f/"));
    is("unlink below a file", call(SYS_unlink, "f/x"));
    is("unlink of what is missing with a slash", call(SYS_unlink, "none/"));
    is("unlink of a dangling link", call(SYS_unlink, "dangling"));
    call(SYS_symlink, "f", "l");
    is("unlink of a link", call(SYS_unlink, "l"));
    contains("what it named", "f");
}

static long rename_(const char *from, const char *to) { return call(SYS_rename, from, to); }

static void renaming(void) {
    make_file("a", "A"), make_file("b", "B");
    mkdir_("empty"), mkdir_("full"), mkdir_("full/sub"), make_file("full/inner", "inner");
    is("rename over a file", rename_("a", "b"));
    is("the old name", exists("a"));
    contains("the new name", "b");
    is("rename to itself", rename_("b", "b"));
    is("rename what is missing", rename_("none", "b"));
    is("rename an empty path", rename_("", "b"));
    is("rename to an empty path", rename_("b", ""));
    is("rename into a missing directory", rename_("b", "none/b"));
    is("rename below a file", rename_("b", "f/b"));
    is("rename from below a file", rename_("b/x", "f"));
    is("rename a file over a directory", rename_("b", "empty"));
    is("rename a file over a full directory", rename_("b", "full"));
    is("rename a directory over a file", rename_("empty", "b"));
    is("rename a directory over a full one", rename_("empty", "full"));
    is("rename a full directory over an empty one", rename_("full", "empty"));
    contains("what came with it", "empty/inner");
    is("rename a directory into itself", rename_("empty", "empty/sub/x"));
    is("rename a directory over what is in it", rename_("empty", "empty/sub"));
    is("rename a file over its parent", rename_("empty/inner", "empty"));
    is("rename a directory over its parent", rename_("empty/sub", "empty"));
    is("rename .", rename_(".", "x"));
    is("rename d/.", rename_("d/.", "x"));
    is("rename over .", rename_("d", "."));
    is("rename over ..", rename_("d", ".."));
    is("rename the root", rename_("/", "x"));
    is("rename over the root", rename_("d", "/"));
    is("rename a file with a slash", rename_("b/", "c"));
    is("rename a file to a name with a slash", rename_("b", "c/"));
    is("rename a directory with slashes", rename_("d/", "e/"));
    is("rename into a directory", rename_("b", "e/b"));
    contains("it is there", "e/b");
    is("rename a directory into another", rename_("empty", "e/deep"));
    contains("it went along", "e/deep/inner");
    call(SYS_chdir, "e/deep/sub");
    is("its parent is the new one", call(SYS_stat, "../../b", &facts));
    call(SYS_chdir, "../../..");
    call(SYS_symlink, "e/b", "l"), make_file("c", "C");
    is("rename a link", rename_("l", "m"));
    is("it still is one", exists("m") + S_ISLNK(facts.st_mode));
    is("rename over a link", rename_("c", "m"));
    is("which is a file now", exists("m") + S_ISREG(facts.st_mode));
    contains("what the link named", "e/b");
    make_file("n1", "1"), make_file("n2", "2");
    is("renameat2 that must not replace", call(SYS_renameat2, AT_FDCWD, "n1", AT_FDCWD, "n2", 1));
    is("renameat2 that does not", call(SYS_renameat2, AT_FDCWD, "n1", AT_FDCWD, "n3", 1));
    is("renameat2 with a flag that nobody knows", call(SYS_renameat2, AT_FDCWD, "n3", AT_FDCWD, "n1", 1 << 30));
    is("renameat2 with flags that exclude each other", call(SYS_renameat2, AT_FDCWD, "n3", AT_FDCWD, "n1", 3));
    is("renameat", call(SYS_renameat, AT_FDCWD, "n3", AT_FDCWD, "n1"));
    is("renameat from a bad descriptor", call(SYS_renameat, 77, "n1", AT_FDCWD, "n3"));
    is("renameat to a bad descriptor", call(SYS_renameat, AT_FDCWD, "n1", 77, "n3"));
}

static void readlink_(const char *name, const char *path, long size) {
    memset(text, '#', 64);
    long got = call(SYS_readlink, path, text, size);
    if (got < 0) is(name, got);
    else say("%s: %ld %.*s %c", name, got, (int)(got < 32 ? got : 32), text, text[got < 32 ? got : 32]);
}

static void symbolic_links(void) {
    is("symlink", call(SYS_symlink, "e/b", "s"));
    is("symlink again", call(SYS_symlink, "e/b", "s"));
    is("symlink to nothing", call(SYS_symlink, "", "t"));
    is("symlink with an empty name", call(SYS_symlink, "x", ""));
    is("symlink over a directory", call(SYS_symlink, "x", "e"));
    is("symlink in a missing directory", call(SYS_symlink, "x", "none/t"));
    is("symlink to a name with a slash", call(SYS_symlink, "x", "t/"));
    is("symlinkat", call(SYS_symlinkat, "any text at all", AT_FDCWD, "t"));
    is("symlinkat with a bad descriptor", call(SYS_symlinkat, "x", 77, "u"));
    readlink_("readlink", "s", 64);
    readlink_("readlink of any text", "t", 64);
    readlink_("readlink with little room", "t", 3);
    readlink_("readlink without room", "t", 0);
    readlink_("readlink with a negative size", "t", -1);
    readlink_("readlink of a file", "e/b", 64);
    readlink_("readlink of a directory", "e", 64);
    readlink_("readlink of what is missing", "none", 64);
    readlink_("readlink of an empty path", "", 64);
    is("readlinkat", call(SYS_readlinkat, AT_FDCWD, "t", text, 64));
    is("readlinkat with a bad descriptor", call(SYS_readlinkat, 77, "t", text, 64));
    memset(text, 'n', 1000), text[1000] = 0;
    is("symlink to 1000 bytes", call(SYS_symlink, text, "long"));
    is("its size", exists("long") ? -1 : facts.st_size);
    is("follow it", call(SYS_stat, "long", &facts));
    memset(text, 'n', 4096), text[4096] = 0;
    is("symlink to 4096 bytes", call(SYS_symlink, text, "longer"));
    call(SYS_symlink, "e", "to-e");
    contains("a link on the way", "to-e/b");
    contains("out of a link by its target's parent", "to-e/../e/b");
    is("a link with a slash is what it names", exists("to-e/") + S_ISDIR(facts.st_mode));
    is("unlink a link with a slash", call(SYS_unlink, "to-e/"));
    call(SYS_symlink, "../e/b", "e/back");
    contains("a link is relative to where it lies", "e/back");
    call(SYS_symlink, "two", "one"), call(SYS_symlink, "one", "two");
    is("a loop of two", call(SYS_stat, "one", &facts));
    is("below a loop", call(SYS_stat, "one/x", &facts));
    make_file("chain0", "end");
    for (int i = 1; i <= 41; i++) {
        char from[16], to[16];
        snprintf(from, sizeof from, "chain%d", i - 1), snprintf(to, sizeof to, "chain%d", i);
        call(SYS_symlink, from, to);
    }
    contains("40 links", "chain40");
    contains("41 links", "chain41");
}

static void hard_links(void) {
    make_file("h", "hard");
    is("link", call(SYS_link, "h", "h2"));
    is("links", exists("h") ? -1 : (long)facts.st_nlink);
    is("link over a name", call(SYS_link, "h", "h2"));
    is("link of a directory", call(SYS_link, "e", "e2"));
    is("link of what is missing", call(SYS_link, "none", "x"));
    is("linkat with a flag that nobody knows", call(SYS_linkat, AT_FDCWD, "h", AT_FDCWD, "h3", 1));
    is("unlink one", call(SYS_unlink, "h"));
    contains("the other", "h2");
    is("links then", exists("h2") ? -1 : (long)facts.st_nlink);
}

static void paths(void) {
    static const char *const good[] = { "e//b", "./e/b", "e/./b", "e/../e/b", "e/deep/../b", "e/deep/sub/../../b", ".//.//e///b" };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        snprintf(text, sizeof text, "path %s", good[i]);
        is(text, call(SYS_stat, good[i], &facts));
    }
    is("the root's parent", call(SYS_stat, "/../../..", &facts));
    is("a directory with a dot", call(SYS_stat, "e/.", &facts));
    is("a directory with a slash", call(SYS_stat, "e/", &facts));
    is("a file with a dot", call(SYS_stat, "e/b/.", &facts));
    is("a file's parent", call(SYS_stat, "e/b/..", &facts));
    is("the parent of what is missing", call(SYS_stat, "none/../e", &facts));
    is("an empty path", call(SYS_stat, "", &facts));
    is("what is missing in what is missing", call(SYS_stat, "none/none", &facts));
}

/* Where a shell would say we are, below the directory that the test chose. */
static void where(const char *name, size_t from) {
    static char now[PAGE];
    long got = call(SYS_getcwd, now, sizeof now);
    if (got < 0) is(name, got);
    else say("%s: %s", name, strlen(now) >= from ? now + from : now);
}

static void working_directory(void) {
    static char start[PAGE], small[PAGE];
    size_t length = call(SYS_getcwd, start, sizeof start) - 1;
    holds("getcwd", start[0] == '/' && strlen(start) == length);
    is("getcwd with too little room", call(SYS_getcwd, small, length));
    is("getcwd without room", call(SYS_getcwd, small, 0));
    holds("getcwd with just enough", call(SYS_getcwd, small, length + 1) == (long)length + 1);
    is("chdir", call(SYS_chdir, "e"));
    where("the way there", length);
    is("chdir to the parent's", call(SYS_chdir, "./deep/../deep//sub/"));
    where("the way after", length);
    is("chdir to a file", call(SYS_chdir, "../../b"));
    is("chdir to what is missing", call(SYS_chdir, "none"));
    is("chdir to an empty path", call(SYS_chdir, ""));
    where("errors change nothing", length);
    is("chdir back", call(SYS_chdir, start));
    is("chdir through a link", call(SYS_chdir, "to-e"));
    where("which is where it leads", length);
    call(SYS_chdir, start);
    long fd = call(SYS_open, "e/deep", O_RDONLY);
    is("fchdir", call(SYS_fchdir, fd));
    where("fchdir led", length);
    is("fchdir of a bad descriptor", call(SYS_fchdir, 77));
    call(SYS_close, fd), call(SYS_chdir, start);
    fd = call(SYS_open, "e/b", O_RDONLY);
    is("fchdir of a file", call(SYS_fchdir, fd));
    call(SYS_close, fd);
    mkdir_("leaving"), call(SYS_chdir, "leaving"), call(SYS_rename, "../leaving", "../left");
    where("after the directory was renamed", length);
    is("a file made there", make_file("there", "x"));
    is("which lies in the new name", (call(SYS_chdir, start), exists("left/there")));
    mkdir_("going"), call(SYS_chdir, "going");
    is("rmdir of the working directory", call(SYS_rmdir, "../going"));
    where("where that is", 0);
    is("stat of .", call(SYS_stat, ".", &facts));
    is("a new file in it", call(SYS_open, "x", O_RDWR | O_CREAT, 0644));
    is("a new directory in it", mkdir_("x"));
    is("chdir to an absolute path", call(SYS_chdir, start));
}

/* The entries of a directory, by name, with their types. */
static void list(const char *name, long fd) {
    static char raw[2 * PAGE], *found[64];
    int count = 0;
    static char lines[64][40];
    for (long got; (got = call(SYS_getdents64, fd, raw, sizeof raw)) != 0;) {
        if (got < 0) return is(name, got);
        for (long at = 0; at < got && count < 64;) {
            unsigned short size;
            memcpy(&size, raw + at + 16, 2);
            snprintf(lines[count], sizeof lines[count], "%.30s/%d", raw + at + 19, raw[at + 18]);
            found[count] = lines[count], count++;
            at += size;
        }
    }
    for (int i = 0; i < count; i++)
        for (int j = i + 1; j < count; j++)
            if (strcmp(found[i], found[j]) > 0) {
                char *other = found[i];
                found[i] = found[j], found[j] = other;
            }
    static char all[512];
    int at = 0;
    for (int i = 0; i < count; i++) at += snprintf(all + at, sizeof all - at, " %s", found[i]);
    say("%s:%s", name, all);
}

static void listing(void) {
    mkdir_("list"), mkdir_("list/d"), make_file("list/f", ""), call(SYS_symlink, "x", "list/l");
    make_file("list/\xfftail", "");
    long fd = call(SYS_open, "list", O_RDONLY | O_DIRECTORY);
    list("a directory's entries", fd);
    is("at its end", call(SYS_getdents64, fd, text, sizeof text));
    is("back to the start", call(SYS_lseek, fd, 0, SEEK_SET));
    list("once more", fd);
    call(SYS_lseek, fd, 0, SEEK_SET);
    is("no room for one entry", call(SYS_getdents64, fd, text, 10));
    is("room for nothing", call(SYS_getdents64, fd, text, 0));
    call(SYS_unlink, "list/f"), make_file("list/new", "");
    call(SYS_lseek, fd, 0, SEEK_SET);
    list("after a change", fd);
    call(SYS_close, fd);
    fd = call(SYS_open, "e/b", O_RDONLY);
    is("getdents64 of a file", call(SYS_getdents64, fd, text, sizeof text));
    call(SYS_close, fd);
    is("getdents64 of a bad descriptor", call(SYS_getdents64, 77, text, sizeof text));
    /* A long directory, read in small pieces, with every second entry removed on the way. */
    mkdir_("many");
    char name[32];
    for (int i = 0; i < 200; i++) snprintf(name, sizeof name, "many/file-%03d", i), make_file(name, "");
    fd = call(SYS_open, "many", O_RDONLY);
    int seen = 0, twice = 0;
    static char was[200];
    for (long got; (got = call(SYS_getdents64, fd, text, 256)) > 0;)
        for (long at = 0; at < got; at += *(unsigned short *)(text + at + 16)) {
            int number;
            if (sscanf(text + at + 19, "file-%d", &number) != 1) continue;
            seen++, twice += was[number]++;
            snprintf(name, sizeof name, "many/file-%03d", number), call(SYS_unlink, name);
        }
    is("entries seen while they are removed", seen);
    is("seen twice", twice);
    call(SYS_close, fd);
    is("nothing is left", call(SYS_rmdir, "many"));
    fd = call(SYS_open, "list", O_RDONLY);
    call(SYS_unlink, "list/new"), call(SYS_unlink, "list/l"), call(SYS_unlink, "list/\xfftail"), call(SYS_rmdir, "list/d");
    is("rmdir of an open directory", call(SYS_rmdir, "list"));
    is("getdents64 of it", call(SYS_getdents64, fd, text, sizeof text));
    is("openat in it", call(SYS_openat, fd, "x", O_RDWR | O_CREAT, 0644));
}

static void checks(int argc, char **argv) {
    (void)argc, (void)argv;
    directories();
    unlinking();
    renaming();
    symbolic_links();
    hard_links();
    paths();
    working_directory();
    listing();
}
