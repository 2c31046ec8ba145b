#!/usr/bin/env bash
# Prints the version of this source tree, its commit and the commit's time in seconds since 1970, in
# one line. A tag vX.Y.Z is a version; a later commit is X.Y.Z+N.gCOMMIT, where N counts the commits
# since; without any tag it is 0.0.0+gitTIME.COMMIT. ".modified" says that files differ from the
# commit. The tarball of the sources has the line in the file VERSION.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -f VERSION ]; then
	cat VERSION
	exit
fi
if ! commit=$(git rev-parse --verify -q HEAD 2>/dev/null); then
	echo 0.0.0+unknown unknown 0
	exit
fi
modified=
[ -z "$(git status --porcelain --untracked-files=no)" ] || modified=.modified
seconds=$(git log -1 --format=%ct)
if tag=$(git describe --tags --long --match 'v[0-9]*' --abbrev=12 2>/dev/null); then
	version=${tag%-*-g*}
	since=${tag#"$version"-}
	count=${since%-g*}
	version=${version#v}
	[ "$count" = 0 ] || version+=+$count.g${since#*-g}
	case $version in *+*) version+=$modified ;; *) version+=${modified:++${modified#.}} ;; esac
else
	version=0.0.0+git$(TZ=UTC date -d "@$seconds" +%Y%m%d%H%M%S).${commit:0:12}$modified
fi
echo "$version" "$commit" "$seconds"
