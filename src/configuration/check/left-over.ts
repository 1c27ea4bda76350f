import { LARGEST_FINDING_COUNT, type Report } from './report.ts'

/** Parts of older configurations that nothing reads any more, and notes for people (brief 5.1). */
const OBSOLETE = [
  /^(brand|reports)\//,
  /(^|\/)perms\.json$/,
  /^global\.dictionary\.json$/,
  /^policyholder\/policyholder\.json$/,
  /^products\/[^/]+\/claim\//,
  /^products\/[^/]+\/[^/]*\.(form|card|dictionary)\.json$/,
  /(^|\/)(readme|license|licence|notice|changelog|contributing)(\.[a-z]+)?$/i,
  /\.md$/i,
]

/** Warns of every file that no check asked for; of a whole unknown folder at the top once. */
export function checkLeftOver(
  paths: readonly string[],
  knownFolders: ReadonlySet<string>,
  report: Report,
): void {
  const unknown = paths.filter(path => !OBSOLETE.some(pattern => pattern.test(path)))
  const folders = new Set<string>()
  for (const path of unknown) {
    const [first, second] = path.split('/', 2)
    if (second === undefined || knownFolders.has(first!)) {
      report.warning(
        { path },
        'unknownFile',
        'This file is not part of a configuration and is ignored. Check its name and folder, or leave it out.',
      )
      continue
    }
    if (folders.size >= LARGEST_FINDING_COUNT || folders.has(first!)) continue
    folders.add(first!)
    report.warning(
      { path: `${first}/` },
      'unknownFile',
      'This folder is not part of a configuration and is ignored. Check its name, or leave it out.',
    )
  }
}
