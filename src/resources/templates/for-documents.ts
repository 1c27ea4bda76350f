// What a tenant's resources give to the documents of its policies: a template, its snippets, fonts and static files of
// the static names that a configuration uses. What is in force comes before the configuration's own (resources brief 1.6).
import type { StaticFiles } from '../../documents/archive-files.ts'
import type { RequestContext } from '../../platform/context.ts'
import { Refusal } from '../../platform/errors.ts'
import type { RenderingEnvironment } from '../../rating/liquid/environment.ts'
import { RESOURCE_NAME, type Resource } from '../resource.ts'
import { selectInForce } from '../selection.ts'
import { findCandidates, homeDatabase } from '../store.ts'
import { filesInForce } from './files.ts'
import type { RenderedTemplate } from './rendering.ts'
import { Snippets, type TimeAndPlace, textOf } from './snippets.ts'

export type DocumentResources = {
  /** The template in force; undefined where there is none of the name, which then is the configuration's. */
  template(name: string, where: TimeAndPlace): Promise<Resource | undefined>
  /** Its rendering, or why it failed. */
  rendered(
    template: Resource,
    where: TimeAndPlace,
    data: object,
    environment: Omit<RenderingEnvironment, 'templates'>,
  ): Promise<RenderedTemplate | { readonly failure: string }>
  files(where: TimeAndPlace, configured: StaticFiles): StaticFiles
}

/** Endings that names of templates have in a configuration, and static names have not. */
const ENDING = /(?:\.template)?\.(?:liquid|vm|velocity)$/

/** Names are read once for all documents that are made together. */
export function documentResources(
  context: Pick<RequestContext, 'tenant' | 'env' | 'calls'>,
): DocumentResources {
  const database = homeDatabase(context)
  const candidates = new Map<string, ReturnType<typeof findCandidates>>()
  return {
    async template(name, where) {
      const staticName = name.replace(ENDING, '')
      if (!RESOURCE_NAME.test(staticName)) return undefined
      const read = candidates.get(staticName) ?? findCandidates(database, [staticName])
      candidates.set(staticName, read)
      const { resources, groups } = await read
      const templates = resources.filter(one => one.type === 'documentTemplate')
      return selectInForce(templates, groups, where).chosen?.resource
    },
    async rendered(template, where, data, environment) {
      const text = await textOf(context, template)
      // The engines are much code, which documents of most tenants never need.
      const { renderedTemplate } = await import('./rendering.ts')
      const snippets = new Snippets(context, database, where)
      try {
        return await renderedTemplate(text, data, environment, snippets)
      } catch (problem) {
        if (problem instanceof Refusal) return { failure: problem.message }
        throw problem
      }
    },
    files: (where, configured) => filesInForce(context, database, where, configured),
  }
}
