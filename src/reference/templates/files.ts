// Files that a rendered template names: fonts of `@font-face` and images, by static name, as they are in force at the
// template's time and place; else those of the configuration.

import type { RequestContext } from '../../platform/context.ts'
import type { StaticFiles } from '../../product/stored-files.ts'
import { revisionFile } from '../files/service.ts'
import type { NamedResources } from './named.ts'
import type { TimeAndPlace } from './snippets.ts'

const FONT_ENDING = /^(?:ttf|otf|woff2?)$/i

/** `brand_sans.ttf` is the font, `terms` or `terms.pdf` the static document, of that static name. */
const partsOf = (name: string): { staticName: string; ending: string } => {
  const [, staticName = '', ending = ''] = /^(.*?)(?:\.(\w{1,5}))?$/.exec(name) ?? []
  return { staticName, ending }
}

export function filesInForce(
  context: Pick<RequestContext, 'tenant' | 'env' | 'calls'>,
  named: NamedResources,
  where: TimeAndPlace,
  configured: StaticFiles | undefined,
): StaticFiles {
  const read = async (name: string): Promise<Uint8Array | undefined> => {
    const { staticName, ending } = partsOf(name)
    const type = FONT_ENDING.test(ending) ? 'customFont' : 'staticDocument'
    const resource = await named.inForce(staticName, type, where)
    if (resource) return new Uint8Array(await (await revisionFile(context, resource)).arrayBuffer())
    return configured?.(name)
  }
  return Object.assign(read, {
    expect: (names: readonly string[]) => named.expect(names.map(name => partsOf(name).staticName)),
  })
}
