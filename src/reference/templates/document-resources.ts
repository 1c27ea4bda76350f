// Resources for a policy's documents: templates, snippets, fonts and static files, by the static names in the configuration.
// Resources in force override the configuration's own files (resources brief 1.6). Snippets are selected for the time and
// jurisdiction of the template (resources brief 4.3), or for the time that config.json names.
import { Refusal } from '../../kernel/errors.ts'
import { Memo } from '../../kernel/maps.ts'
import type { Instant } from '../../kernel/time.ts'
import type { Database } from '../../platform/database.ts'
import { homeDatabase, type TenantPlace } from '../../platform/tenancy.ts'
import type { StaticFiles } from '../../product/cache.ts'
import { includedSnippets } from '../../product/check/product/templates.ts'
import {
  RESOURCE_NAME,
  type ResourceType,
  staticNameOf,
  type TemplateFormat,
} from '../../product/resources.ts'
import type { TemplateEnvironment } from '../../product/templates/effects.ts'
import type { CompiledTemplate } from '../../product/templates/liquid.ts'
import { type Resource, type Selecting, selectInForce } from '../resource.ts'
import { findCandidates } from '../store.ts'
import { revisionFile } from '../stored-files.ts'
import type { RenderedTemplate } from './rendering.ts'

export type DocumentResources = ReturnType<typeof documentResources>

/** The most names that are remembered for a kind of document and read in advance. */
const MOST_USUAL_NAMES = 100

const usualNames = new Memo<string, Set<string>>(200)

/** Resources for documents of a product. Names that earlier documents requested are read with the first one, in one round trip. */
export const usualResources = (
  context: TenantPlace,
  configurationHash: string,
  product: string,
): NamedResources =>
  new NamedResources(
    homeDatabase(context),
    usualNames.getOrMake([context.tenant.locator, configurationHash, product].join('/'), () => new Set()),
  )

/** Reads each name only once for all documents that are made together. `named` defaults to the resources of the tenant. */
export function documentResources(
  context: TenantPlace,
  named: ResourceNames = new NamedResources(homeDatabase(context)),
) {
  return {
    /** Announces templates, so that their names are read in one round trip. */
    expect: (templateNames: readonly string[]): Promise<void> =>
      named.expect(templateNames.map(staticNameOf)),
    /** Returns the template in force; undefined if there is none, and the configuration's template is used. */
    async template(name: string, where: TimeAndPlace): Promise<TemplateText | undefined> {
      const resource = await named.inForce(staticNameOf(name), 'documentTemplate', where)
      return resource && (await textOf(context, resource))
    },
    /**
     * Returns the rendered template, or why rendering failed. `whereOf` returns the time and jurisdiction for a snippet. `allowed`
     * lists the static names that the template may include; undefined permits all.
     */
    async rendered(
      template: TemplateText,
      whereOf: (snippet: string) => TimeAndPlace,
      data: object,
      environment: Omit<TemplateEnvironment, 'templates'>,
      allowed: readonly string[] | undefined,
    ): Promise<RenderedTemplate | { readonly failure: string; readonly isLimit: boolean }> {
      // Loaded on demand: the engines are large, and requests that make no document do not need them.
      const { renderTemplate } = await import('./rendering.ts')
      const snippets = new Snippets(context, named, whereOf, allowed)
      try {
        return await renderTemplate(template, data, environment, snippets)
      } catch (problem) {
        if (!isOfTemplate(problem)) throw problem
        return { failure: problem.message, isLimit: problem.code === 'templateLimit' }
      }
    },
    files: (where: TimeAndPlace, configured: StaticFiles): StaticFiles =>
      filesInForce(context, named, where, configured),
  }
}

/** Whether the template caused the error. Other errors, for example that a tenant was just suspended or moved, are thrown again. */
const isOfTemplate = (problem: unknown): problem is Refusal =>
  problem instanceof Refusal && (problem.code === 'templateFailed' || problem.code === 'templateLimit')

const FONT_ENDING = /^(?:ttf|otf|woff2?)$/i

/** Splits a file name: `brand_sans.ttf` is the font, and `terms` or `terms.pdf` the static document, with that static name. */
const partsOf = (name: string): { staticName: string; ending: string } => {
  const [, staticName = '', ending = ''] = /^(.*?)(?:\.(\w{1,5}))?$/.exec(name) ?? []
  return { staticName, ending }
}

/** Fonts and images that a template names: those in force for its time and jurisdiction, or else those of the configuration. */
export function filesInForce(
  context: TenantPlace,
  named: ResourceNames,
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

export type ResourceNames = Pick<NamedResources, 'expect' | 'inForce'>

/** Resources by static name. Each name is read once; names that are known in advance share one round trip. */
export class NamedResources {
  readonly #database: Database
  readonly #known = new Map<string, ReturnType<typeof findCandidates>>()
  readonly #usual: Set<string>

  /** `usual` are names to read together with the first one. Requested names are added to them. */
  constructor(database: Database, usual = new Set<string>()) {
    this.#database = database
    this.#usual = usual
  }

  /** Reads the names in one round trip, or none if all are known. Ignores texts that are not static names. */
  async expect(names: readonly string[]): Promise<void> {
    const isUnknown = (name: string): boolean => RESOURCE_NAME.test(name) && !this.#known.has(name)
    const asked = [...new Set(names)].filter(isUnknown)
    if (asked.length === 0) return
    const unknown = [...new Set([...asked, ...[...this.#usual].filter(isUnknown)])]
    for (const name of asked) if (this.#usual.size < MOST_USUAL_NAMES) this.#usual.add(name)
    const read = findCandidates(this.#database, unknown)
    for (const name of unknown) this.#known.set(name, read)
    await read
  }

  /** Returns the resource of the type that is in force for the static name. */
  async inForce(name: string, type: ResourceType, where: Selecting): Promise<Resource | undefined> {
    await this.expect([name])
    const { resources, groups } = (await this.#known.get(name)) ?? { resources: [], groups: [] }
    const instances = resources.filter(one => one.staticName === name && one.type === type)
    return selectInForce(instances, groups, where).chosen?.resource
  }
}

/** The text of a template or snippet, from a resource or a configuration. */
export type TemplateText = {
  /** The name in messages: that of the resource, or the path in the configuration. */
  readonly name: string
  readonly format: TemplateFormat
  readonly source: string
  readonly resource?: Resource
  /** Returns the compiled template, for Liquid that is already in memory. */
  readonly compiled?: () => CompiledTemplate
}

export type TimeAndPlace = { readonly at: Instant; readonly jurisdiction: string | undefined }

/** Limits for one template: the number of snippets, and their characters in total. */
const MOST_SNIPPETS = 200
const MOST_CHARACTERS = 10 * 1_048_576

/** The most simultaneous reads: an isolate has six connections. */
const AT_A_TIME = 6

const namesIn = ({ format, source }: TemplateText): string[] =>
  includedSnippets(source, format).map(({ name }) => name)

/** Reads the source of a template. One call of R2. */
export const textOf = async (context: TenantPlace, resource: Resource): Promise<TemplateText> => ({
  name: resource.name,
  format: resource.templateFormat ?? 'liquid',
  source: await (await revisionFile(context, resource)).text(),
  resource,
})

export class Snippets {
  readonly #context: TenantPlace
  readonly #named: ResourceNames
  readonly #whereOf: (name: string) => TimeAndPlace
  readonly #allowed: ReadonlySet<string> | undefined
  /** By static name; undefined if none is in force. */
  readonly #read = new Map<string, TemplateText | undefined>()
  #characters = 0

  /**
   * `whereOf` returns the time and jurisdiction for a snippet. `allowed` lists the static names in the document's
   * `templateSnippets`; undefined permits all.
   */
  constructor(
    context: TenantPlace,
    named: ResourceNames,
    whereOf: (name: string) => TimeAndPlace,
    allowed?: readonly string[],
  ) {
    this.#context = context
    this.#named = named
    this.#whereOf = whereOf
    this.#allowed = allowed && new Set(allowed)
  }

  /** Whether the document may include the snippet (resources brief 4.3). */
  isAllowed(name: string): boolean {
    return this.#allowed?.has(name) ?? true
  }

  get(name: string): TemplateText | undefined {
    return this.#read.get(name)
  }

  isKnown(name: string): boolean {
    return this.#read.has(name)
  }

  used(): Resource[] {
    return [...this.#read.values()].flatMap(one => one?.resource ?? [])
  }

  /**
   * Loads snippets and the snippets that they include, with a round trip and a read of files for each level. Rejects with 422 more
   * than 200 snippets, or 10 MiB.
   */
  async load(names: readonly string[]): Promise<void> {
    let wanted = this.#unknown(names)
    while (wanted.length > 0) {
      const snippets = await this.#found(wanted)
      wanted = this.#unknown(snippets.flatMap(namesIn))
    }
  }

  loadFor(text: TemplateText): Promise<void> {
    return this.load(namesIn(text))
  }

  #unknown(names: readonly string[]): string[] {
    const unknown = [...new Set(names)].filter(name => !this.#read.has(name) && this.isAllowed(name))
    if (this.#read.size + unknown.length > MOST_SNIPPETS)
      throw new Refusal('templateLimit', `The template includes more than ${MOST_SNIPPETS} snippets.`)
    return unknown
  }

  async #found(names: readonly string[]): Promise<TemplateText[]> {
    await this.#named.expect(names)
    const chosen = await Promise.all(
      names.map(async name => ({
        name,
        resource: await this.#named.inForce(name, 'documentTemplateSnippet', this.#whereOf(name)),
      })),
    )
    const texts: TemplateText[] = []
    for (let from = 0; from < chosen.length; from += AT_A_TIME) {
      const read = chosen.slice(from, from + AT_A_TIME).map(async ({ name, resource }) => {
        const text = resource && (await textOf(this.#context, resource))
        this.#read.set(name, text)
        return text
      })
      for (const text of await Promise.all(read)) {
        if (!text) continue
        texts.push(text)
        this.#characters += text.source.length
        if (this.#characters > MOST_CHARACTERS)
          throw new Refusal('templateLimit', 'The snippets of the template have more than 10 MiB in total.')
      }
    }
    return texts
  }
}
