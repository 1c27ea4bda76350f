// The names of the secrets that config.json declares, and of their items (resources brief 0.3 and 5).
import { SECRET_ITEM_NAME } from '../../platform/outbound/secret-references.ts'
import type { Configuration } from '../configuration.ts'
import { LONGEST_RESOURCE_NAME, RESOURCE_NAME } from '../resources.ts'
import type { JsonPath } from './json/read.ts'
import type { Place, Report } from './report.ts'

export function checkSecrets(
  secrets: Configuration['secrets'],
  place: (path: JsonPath) => Place,
  report: Report,
): void {
  for (const [staticName, { items }] of Object.entries(secrets)) {
    if (!RESOURCE_NAME.test(staticName) || staticName.length > LONGEST_RESOURCE_NAME)
      report.error(
        place(['secrets', staticName]),
        'badName',
        `'${staticName}' is no static name. Begin with a letter, $ or _ and a letter, and use letters, digits, _ and $, ${LONGEST_RESOURCE_NAME} at most.`,
      )
    for (const item of Object.keys(items))
      if (!SECRET_ITEM_NAME.test(item))
        report.error(
          place(['secrets', staticName, 'items', item]),
          'badName',
          `'${item}' is no name of a secret's item. Use letters, digits, _, - and $, 128 at most.`,
        )
  }
}
