# Parameter expansion.
unset u; e=; v=value; p=/usr/local/lib/file.tar.gz
echo "${u-d}" "${u:-d}" "${e-d}" "${e:-d}" "${v-d}" "${v:-d}"
echo "${u+s}" "${u:+s}" "${e+s}" "${e:+s}" "${v+s}" "${v:+s}"
echo "${u=1}" "$u"; unset u; echo "${e:=2}" "$e"; e=
echo ${#v} ${#u} ${#p} ${#e}
echo "${p#*/}" "${p##*/}" "${p%.*}" "${p%%.*}" "${p#x}" "${p%/}"
echo "${p#/usr}" "${p%"gz"}" "${p#"/*"}" "${p%'.gz'}"
q='*'; s='a*b*c'
echo "${s#*"$q"}" "${s##*$q}" "${s%%"$q"*}"
echo ${u:-a b   c} "${u:-a b   c}" ${u:-"a b   c"} ${u:-'x  y'}
echo "${u:-"quoted inside"}" "${u:-$v}" "${u:-${e:-deep}}" "${u:-$(echo cmd)}"
echo "${u:-'single'}" ${u:-'single'} "${u:-\$v}" "${u:-a\}b}"
set -- a b c d e f g h i j k
echo $# $1 ${10} ${11} $10 "$#" ${#} ${#1}
shift; echo $# $1
shift 3; echo $1 "$*"
set --; echo $# "${1-none}"
x=abc; echo $x$x ${x}d "$x"d $xd "${x}d"
(echo ${u?message}) 2>/dev/null; echo $?
(echo ${e:?message}) 2>/dev/null; echo $?
(set -u; echo $nothing) 2>/dev/null; echo $?
(set -u; echo "${nothing-fine}" "$@"); echo $?
A=1 B=2; echo $A$B
A=1; B=$A$A; echo $B
f() { echo "$1,$2,$#"; }
f 1 2; f "1 2"; f; set -- x y; f; echo "$1"
x='a b'; y=$x; echo "$y"; y=$x' c'; echo "$y"; y=$(echo 'p  q'); echo "$y"
echo "${0:+set}"
readonly R=1; (R=2) 2>/dev/null; echo $? $R
export E1=exported; sh -c 'echo "${E1-none}"'; unset E1; sh -c 'echo "${E1-none}"'
X=temporary sh -c 'echo "${X-none}"'; echo "${X-gone}"
