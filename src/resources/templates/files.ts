// Files that a rendered template names: fonts of `@font-face` and images, by static name, as they are in force at the
// template's time and place; else those of the configuration.
import type { StaticFiles } from '../../documents/archive-files.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { revisionFile } from '../files/service.ts'
import { RESOURCE_NAME } from '../resource.ts'
import { selectInForce } from '../selection.ts'
import { findCandidates } from '../store.ts'
import type { TimeAndPlace } from './snippets.ts'

/** `brand_sans.ttf` is the font, `terms` or `terms.pdf` the static document, of that static name. */
export function filesInForce(
  context: Pick<RequestContext, 'tenant' | 'env' | 'calls'>,
  database: Database,
  where: TimeAndPlace,
  configured: StaticFiles | undefined,
): StaticFiles {
  return async name => {
    const [, staticName = '', ending] = /^(.*?)(?:\.(\w{1,5}))?$/.exec(name) ?? []
    if (RESOURCE_NAME.test(staticName)) {
      const type = /^(?:ttf|otf|woff2?)$/i.test(ending ?? '') ? 'customFont' : 'staticDocument'
      const { resources, groups } = await findCandidates(database, [staticName])
      const own = resources.filter(one => one.type === type)
      const resource = selectInForce(own, groups, where).chosen?.resource
      if (resource) return new Uint8Array(await (await revisionFile(context, resource)).arrayBuffer())
    }
    return configured?.(name)
  }
}
