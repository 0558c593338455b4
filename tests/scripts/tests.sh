# test and [.
t() { "$@"; echo "$? $*"; }
t test; t test ''; t test x; t test -n ''; t test -n x; t test -z ''; t test -z x; t test ! x; t test ! ''
t test a = a; t test a = b; t test a != b; t test -n = -n; t test ! = !; t test '(' = '('; t test = ; t test -n
t [ 1 -eq 1 ]; t [ 1 -ne 1 ]; t [ 1 -lt 2 ]; t [ 2 -le 2 ]; t [ 2 -gt 3 ]; t [ 3 -ge 3 ]; t [ -1 -lt 0 ]; t [ 10 -gt 9 ]
t [ -d / ]; t [ -f / ]; t [ -e /nothing ]; t [ -e / -a -d / ]; t [ -f / -o -d / ]; t [ ! -f / ]; t [ ! -d / -o x ]
t [ '(' x ')' ]; t [ '(' '' ')' ]; t [ ! '(' x ')' ]; t [ x -a '(' '' -o y ')' ]
t [ -s /dev/null ]; t [ -c /dev/null ]; t [ -r /dev/null ]; t [ -x / ]; t [ -h / ]; t [ -p / ]
[ a -eq 1 ] 2>/dev/null; echo $?
[ a 2>/dev/null; echo $?
x=; [ $x ] || echo unset; [ "$x" = "" ] && echo empty; [ -n "$x" ] || echo not
