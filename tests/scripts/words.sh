# Quoting, splitting, and what words become.
show() { for word; do printf '[%s]\n' "$word"; done; echo "$# words"; }
show 'a  b' "c d" e\ f '' "" x'y'"z"
x='one  two	three
four' empty= star='*'
show $x
show "$x"
show a$x"b c"$x
show $empty "$empty" ''$empty $unset_one
show "$@" $@ "$*" $*
set -- 'a b' '' c
show "$@"
show $@
show "$*"
show $*
show "x$@y"
IFS=:
show "$*"
y=':a::b:'
show $y
y='a : b'
show $y
IFS=': '
show $y
y='  a:b  :  c '
show $y
IFS=
show $x $y
unset IFS
show $x
show \$x "\$x" '$x' "\\" '\' "\a" \a
show "a
b" 'c
d'
show a\
b "c\
d"
show # a comment
show a#b 'a'#b
HOME=/root; show ~ ~/x "~" a~ ~/"*"
echo "`echo one; echo two`" `echo three  four`
show $(echo a b; echo c) "$(echo 'd  e')"
show "$(echo 'a b')" "$(echo "$(echo "x  y")")"
show `echo \`echo inner\`` "`echo "q"`"
show "$(printf 'x\n\n\n')"
