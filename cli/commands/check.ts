import { countText } from '../../src/kernel/text.ts'
import type { Configuration } from '../../src/product/configuration.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { countsOf, countsText, findingsText, shownFindings } from '../findings.ts'
import { checkConfiguration } from '../offline/check.ts'
import { type Run, show } from '../terminal.ts'

/** `bindery check SOURCE`, a folder or a zip file: shows everything that a deploy would find, without a service. */
export async function check(source: string, run: Run): Promise<ExitCode> {
  const { configuration, findings, root } = await checkConfiguration(source)
  const shown = shownFindings(findings, root)
  const { colors } = run.terminal
  show(run, { ok: configuration !== undefined, ...countsOf(findings), findings: shown }, () => {
    const listed = shown.length === 0 ? '' : `${findingsText(shown, run.terminal)}\n`
    const outcome = configuration
      ? `${colors.green(countsText(findings))}: ${summary(configuration)}\n`
      : `${colors.red(countsText(findings))}: a deployment would be rejected\n`
    return listed + outcome
  })
  return configuration ? EXIT.ok : EXIT.refused
}

const summary = ({ products, scripts }: Configuration): string =>
  Object.values(products)
    .map(
      ({ name, exposures }) =>
        `${name} with ${countText(exposures.length, 'exposure')}, ${countText(
          exposures.reduce((sum, { perils }) => sum + perils.length, 0),
          'peril',
        )}`,
    )
    .join('; ') +
  (Object.keys(scripts).length > 0 ? `; ${countText(Object.keys(scripts).length, 'script')}` : '')
