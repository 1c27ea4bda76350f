// `bindery import DIR`: imports an export into the tenant of the sign-in, an account for each policyholder, and compares the
// result with the original. An interrupted run continues, and creates nothing twice.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { countText } from '../../src/kernel/text.ts'
import { EXIT, type ExitCode, Failure } from '../exit.ts'
import { type ControlTotal, compareAll } from '../import/comparison.ts'
import { ProgressFile } from '../import/progress.ts'
import { type Finding, type Importing, sendAll } from '../import/sending.ts'
import { readExported, Source } from '../import/source.ts'
import { signedIn } from '../sign-ins.ts'
import { type Run, say, show } from '../terminal.ts'

export type ImportOptions = { readonly validateOnly?: boolean }

export async function importAll(
  folder: string,
  { validateOnly = false }: ImportOptions,
  run: Run,
): Promise<ExitCode> {
  const { api, signIn } = signedIn('tenant', run.terminal)
  const tenantLocator = signIn.tenantLocator!
  const exported = await readExported(folder)
  if (exported.tenantLocator === tenantLocator)
    throw new Failure(
      EXIT.refused,
      'You are signed in to the tenant that was exported. Sign in to another one: bindery login --tenant NAME --user NAME.',
    )
  const source = await Source.open(folder)
  try {
    // Requires the permission to export, without which nothing could be compared at the end.
    await api.get('/export')
    const progress = ProgressFile.open(folder, tenantLocator)
    const counts = { accounts: 0, present: 0, failed: 0, compared: 0 }
    const importing: Importing = {
      api,
      run,
      tenantLocator,
      source,
      progress,
      validateOnly,
      counts,
      findings: [],
    }
    if (!(await sendAll(importing))) return interruptedText(importing)
    const totals = validateOnly ? [] : await compareAll(importing)
    return totals ? report(folder, importing, totals) : interruptedText(importing)
  } finally {
    source.close()
  }
}

function interruptedText({ run }: Importing): ExitCode {
  say(run, '\nInterrupted. Run the command again to continue. Nothing is created twice.\n')
  return EXIT.interrupted
}

/** Findings that are shown on the screen. The file contains all. */
const MOST_SHOWN = 50

function report(
  folder: string,
  { run, findings, counts, validateOnly, tenantLocator }: Importing,
  controlTotals: readonly ControlTotal[],
): ExitCode {
  const file = join(folder, `import-${tenantLocator}.ndjson`)
  writeFileSync(file, findings.map(finding => `${JSON.stringify(finding)}\n`).join(''))
  const of = (as: string): Finding[] => findings.filter(finding => finding.as === as)
  const bad = [...of('failed'), ...of('left'), ...of('differs'), ...of('notCompared')]
  const notes = findings.filter(finding => finding.as !== 'left' && finding.notes !== undefined).length
  const ok = bad.length === 0 && controlTotals.every(total => total.isEqual)
  const policies = { history: of('history').length, asNow: of('asNow').length, left: of('left').length }
  const { colors } = run.terminal
  show(
    run,
    {
      ok,
      ...counts,
      policies,
      controlTotals,
      file,
      differing: of('differs').length,
      notCompared: of('notCompared').length,
    },
    () => {
      const shown = bad
        .slice(0, MOST_SHOWN)
        .map(
          ({ policy, policyholder, as, reason, notes: more = [] }) =>
            `${colors.bold(policy === undefined ? `account ${policyholder}` : `policy ${policy}`)} ${WORDS[as]}: ${[reason, ...more].join('; ')}\n`,
        )
      const lines = [
        ...shown,
        ...(bad.length > MOST_SHOWN ? [`… and ${bad.length - MOST_SHOWN} more\n`] : []),
        `${countText(counts.accounts, 'account')} ${validateOnly ? 'checked; nothing was written' : 'imported'}`,
        ...(counts.present > 0 ? [`, ${counts.present} already in the tenant`] : []),
        ...(counts.failed > 0 ? [`, ${counts.failed} failed`] : []),
        `; policies: ${policies.history} with their history, ${policies.asNow} in their current state, ${policies.left} not imported`,
        ...(validateOnly
          ? []
          : [
              `; ${counts.compared} compared, ${of('differs').length} differ, ${of('notCompared').length} not compared`,
            ]),
        `.\n${controlTotals.map(totalText).join('')}${notes > 0 ? `Some data of ${countText(notes, 'imported policy', 'imported policies')} is not imported. ` : ''}Details are in ${file}\n`,
      ]
      return lines.join('')
    },
  )
  return ok ? EXIT.ok : EXIT.refused
}

/** Returns one line if exported and imported totals are equal, and otherwise both. */
function totalText({ currency, exported, imported, isEqual }: ControlTotal): string {
  const texts = [exported, imported].map(
    ({ policies, price, invoiced, paid, outstanding, planned }) =>
      `${countText(policies, 'policy', 'policies')}, price ${price}, invoiced ${invoiced}, paid ${paid}, outstanding ${outstanding}, planned ${planned}`,
  )
  return isEqual
    ? `${currency}: ${texts[0]}, as exported\n`
    : `${currency}: exported ${texts[0]}\n     imported ${texts[1]}\n`
}

const WORDS: Readonly<Record<string, string>> = {
  failed: 'failed',
  left: 'is not imported',
  differs: 'differs',
  notCompared: 'is not compared',
}
