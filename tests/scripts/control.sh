# Lists, compound commands, functions, exit statuses.
true && echo and; false && echo no; false || echo or; true || echo no
true && false || echo mixed; false && true || echo mixed2
! true; echo $?; ! false; echo $?; ! true | false; echo $?
if true; then echo then; fi
if false; then echo no; elif true; then echo elif; else echo no; fi
if false; then echo no; else echo else; fi; echo $?
if false; then :; fi; echo $?
i=0; while [ $i -lt 3 ]; do echo w$i; i=$((i+1)); done; echo $?
until [ $i -eq 0 ]; do echo u$i; i=$((i-1)); done
while false; do :; done; echo $?
for x in a 'b c' d; do echo "<$x>"; done
for x in; do echo no; done; echo $?
set -- 1 2; for x do echo $x; done; for x
do echo again $x
done
for i in 1 2 3 4; do [ $i = 2 ] && continue; [ $i = 4 ] && break; echo $i; done
for i in 1 2; do for j in a b c; do [ $j = b ] && continue 2; echo $i$j; done; done
for i in 1 2; do for j in a b c; do [ $j = b ] && break 2; echo $i$j; done; done
while :; do break; done; echo $?
case abc in a*) echo star;; abc) echo no;; esac
case x in a|b) echo no;; x|y) echo alt;; esac
case 'a b' in 'a b') echo quoted;; esac
case '*' in \*) echo literal;; esac; case x in '*') echo no;; *) echo default;; esac
case x in y) ;; esac; echo $?
v='[a]'; case a in $v) echo pattern;; esac; case a in "$v") echo no;; *) echo text;; esac
case z in [!a-c]) echo negated;; esac; case - in [a-]) echo dash;; esac; case ] in []]) echo bracket;; esac
case 5 in [[:digit:]]) echo digit;; esac; case "" in "") echo empty;; esac; case ab in ?) echo no;; ??) echo two;; esac
{ echo group; echo two; } | cat
(echo sub; exit 3); echo $?
(x=inner); echo "${x-unset}"
{ x=changed; }; echo $x
f() { echo f: "$@"; return 4; }; f a b; echo $?
g() { if [ $1 -gt 0 ]; then echo g$1; g $(($1-1)); fi; }; g 3
h() { for i in 1 2 3; do [ $i = 2 ] && return; echo h$i; done; }; h; echo $?
k() ( y=inside; echo $y ); k; echo "${y-outside}"
l() { local z=local; echo $z; }; z=global; l; echo $z
r() { echo redirected; } >/dev/null; r; echo after
echo a | { read x; echo "got $x"; }
echo one two three | { read a b; echo "$a-$b"; }
printf 'l1\nl2\nl3\n' | while read l; do echo "[$l]"; done
false; echo $?; sh -c 'exit 42'; echo $?; (exit 7) || echo $?
x=$(exit 5); echo $?; x=$(echo y; false); echo $? $x
x=1 y=$(false); echo $?
true | false; echo $?; false | true; echo $?
eval 'echo eval; false'; echo $?; eval "x='a b'"; echo "$x"; eval; echo $?
set -- p q; eval 'echo $1 "$2"'
nothing_like_this 2>/dev/null; echo $?; /nothing/there 2>/dev/null; echo $?; / 2>/dev/null; echo $?
cd /; pwd; cd /tmp && pwd; cd - ; cd /nothing 2>/dev/null || echo "no cd"
unset -f f; f 2>/dev/null; echo $?
type cd >/dev/null; echo $?; command -v echo; command echo plain; command -v nothing_there; echo $?
echo() { command echo "mine: $*"; }; echo x; unset -f echo; echo y
s() { echo "begins with $?"; }; false; s; echo $?; (exit 7) || s
s() { return; }; false; s; echo $?; true; s; echo $?; s() { x=1; }; false; s; echo $?; s() { >/dev/null; }; false; s; echo $?
s() { if false; then :; fi; }; false; s; echo $?; s() { case x in y) ;; esac; }; false; s; echo $?
s() { for i in; do :; done; }; false; s; echo $?; s() { while false; do :; done; }; false; s; echo $?
false; if echo $?; then :; fi; false; { echo $?; }; false; (echo $?); false; echo "$(echo $?)"; false; eval 'echo $?'; false; eval ''; echo $?
:; echo $?; : ignored; test; echo $?
exit 9
echo not reached
