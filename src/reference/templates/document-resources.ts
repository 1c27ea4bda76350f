// What a tenant's resources give to the documents of its policies: a template, its snippets, fonts and static files of
// the static names that a configuration uses. What is in force comes before the configuration's own (resources brief 1.6).
import { Refusal } from '../../kernel/errors.ts'
import type { RequestContext } from '../../platform/context.ts'
import { homeDatabase } from '../../platform/tenancy.ts'
import type { StaticFiles } from '../../product/cache.ts'
import type { TemplateEnvironment } from '../../product/templates/effects.ts'
import { staticNameOf } from '../document-use.ts'
import { revisionFile } from '../files/service.ts'
import type { RenderedTemplate } from './rendering.ts'
import { NamedResources, Snippets, type TemplateText, type TimeAndPlace, textOf } from './snippets.ts'

export type DocumentResources = {
  /** Tells beforehand which templates will be asked for: their names are read in one round trip. */
  expect(templateNames: readonly string[]): Promise<void>
  /** The template in force; undefined where there is none of the name, which then is the configuration's. */
  template(name: string, where: TimeAndPlace): Promise<TemplateText | undefined>
  /**
   * The rendering, or why it failed. `whereOf` says for which time and place a snippet is read; `snippets` are the static
   * names that it may include, any where undefined.
   */
  rendered(
    template: TemplateText,
    whereOf: (snippet: string) => TimeAndPlace,
    data: object,
    environment: Omit<TemplateEnvironment, 'templates'>,
    snippets: readonly string[] | undefined,
  ): Promise<RenderedTemplate | { readonly failure: string; readonly isLimit: boolean }>
  files(where: TimeAndPlace, configured: StaticFiles): StaticFiles
}

/** Names are read once for all documents that are made together. */
export function documentResources(
  context: Pick<RequestContext, 'tenant' | 'env' | 'calls'>,
): DocumentResources {
  const named = new NamedResources(homeDatabase(context))
  return {
    expect: names => named.expect(names.map(staticNameOf)),
    async template(name, where) {
      const resource = await named.inForce(staticNameOf(name), 'documentTemplate', where)
      return resource && (await textOf(context, resource))
    },
    async rendered(template, whereOf, data, environment, allowed) {
      // The engines are much code, which requests that make no document never need.
      const { renderedTemplate } = await import('./rendering.ts')
      const snippets = new Snippets(context, named, whereOf, allowed)
      try {
        return await renderedTemplate(template, data, environment, snippets)
      } catch (problem) {
        if (problem instanceof Refusal)
          return { failure: problem.message, isLimit: problem.code === 'templateLimit' }
        throw problem
      }
    },
    files: (where, configured) => filesInForce(context, named, where, configured),
  }
}

const FONT_ENDING = /^(?:ttf|otf|woff2?)$/i

/** `brand_sans.ttf` is the font, `terms` or `terms.pdf` the static document, of that static name. */
const partsOf = (name: string): { staticName: string; ending: string } => {
  const [, staticName = '', ending = ''] = /^(.*?)(?:\.(\w{1,5}))?$/.exec(name) ?? []
  return { staticName, ending }
}

/** Fonts and images that a template names, in force at its time and place; else those of the configuration. */
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
