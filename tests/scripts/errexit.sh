# set -e, and other options.
DIR=$1
(set -e; false; echo no); echo $?
(set -e; false || true; echo yes); (set -e; if false; then :; fi; echo yes); (set -e; ! true; echo yes)
(set -e; true && false; echo no); echo $?
(set -e; false && true; echo yes); (set -e; while false; do :; done; echo yes)
(set -e; f() { false; echo inside; }; f || echo f failed); (set -e; f() { false; echo no; }; f; echo no); echo $?
(set -e; (exit 3); echo no); echo $?
(set -e; { false && true; }; echo yes)
(set -e; x=$(false); echo no); echo $?
(set -e; echo a | false; echo no); echo $?
(set -e; false | true; echo yes)
(set -e; set +e; false; echo yes)
(set -e; eval false; echo no); echo $?
(set -e; for i in 1 2; do false; echo no; done); echo $?
(set -x; echo traced) 2>/dev/null
set -- a b; set -f; echo $# $1; set +f
set -- -x; echo "$1"; set x y z; echo $3
set -o noglob; echo *; set +o noglob
case $- in *f*) echo f;; *) echo no f;; esac
sh -ec 'false; echo no'; echo $?
sh -c 'echo $0 $1 $# "$@"' name one two
echo 'echo from stdin $1; exit 6' | sh -s arg; echo $?
printf 'if true\nthen echo multi\nfi\necho end' | sh; echo $?
cd "$DIR"; echo 'echo script $0 $1; return 3' > s; sh s arg; echo $?
echo 'v=sourced; echo in $v; return 5; echo no' > t; . ./t; echo $? $v
sh -n s; echo $?; printf 'if true; then echo no' > u; sh -n u 2>/dev/null; echo $?
