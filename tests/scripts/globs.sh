# Names for patterns.
cd "$1/tree"; d=$1/tree
: > b.rs; : > a.rs; : > c.txt; : > .hidden; : > dir/one; : > dir/sub/two; : > lib/one
: > 'a b'; : > '[x]'; : > '*'
echo *; echo *.rs; echo ?.rs; echo [ab].rs; echo [!a].rs; echo *.none; echo "*.rs" '*' \*.rs
echo .h*; echo */; echo */one; echo */*/*; echo d*/s*/t*; echo ./*.txt; set -- "$d"/*.txt; echo $# "${1#"$d"/}"
x='*.rs'; echo $x "$x"; for f in *.rs; do echo "$f"; done
echo [x]; echo \[x]; echo '['x]; echo [[]x]
set -f; echo *.rs; set +f; echo *.rs
for f in *; do echo "<$f>"; done
echo "$(echo *.rs)"; y=*.rs; echo "$y" $y
case *.rs in *.rs) echo same;; esac
echo dir/* nothing/* ; echo dir//one; echo dir/./o*
