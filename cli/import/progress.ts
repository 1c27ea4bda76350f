// The progress of an import, in a file next to the export with a line for each step. So each step writes only what it adds, and
// a crash can only cut off the last line, whose step then counts as not done.
import { appendFileSync, existsSync, readFileSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { isJsonObject, tryParseJson } from '../../src/kernel/json.ts'
import { usage } from '../exit.ts'

type Step =
  /** A migration was sent. */
  | { readonly running: string }
  | { readonly ended: string }
  /** An account of the export is in the tenant: its new locator, and the new locators of its policies by the exported ones. */
  | {
      readonly account: string
      readonly locator: string
      readonly policies: Readonly<Record<string, string>>
    }
  /** The auxiliary data of the account has been written. */
  | { readonly withAuxData: string }

/** Returns undefined for text that is not a step. */
function readStep(text: string): Step | undefined {
  const step = tryParseJson(text)
  if (!isJsonObject(step)) return undefined
  const [name = ''] = Object.keys(step)
  const isStep = ['running', 'ended', 'account', 'withAuxData'].includes(name)
  if (!isStep || typeof step[name] !== 'string') return undefined
  const isWhole = name !== 'account' || (typeof step.locator === 'string' && isJsonObject(step.policies))
  return isWhole ? (step as Step) : undefined
}

export class ProgressFile {
  readonly #path: string
  #running: string | undefined
  readonly #accounts = new Map<string, string>()
  readonly #policies = new Map<string, string>()
  readonly #withAuxData = new Set<string>()
  /** Whether there was no file: the import begins, or its progress is lost. */
  readonly isNew: boolean

  private constructor(path: string, isNew: boolean) {
    this.#path = path
    this.isNew = isNew
  }

  static open(folder: string, tenantLocator: string): ProgressFile {
    const path = join(folder, `import-${tenantLocator}.progress`)
    const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0)
    const whole = bytes.subarray(0, bytes.lastIndexOf(10) + 1)
    if (whole.length < bytes.length) truncateSync(path, whole.length)
    const steps = whole.toString().split('\n').slice(0, -1)
    const file = new ProgressFile(path, steps.length === 0)
    for (const [at, text] of steps.entries()) {
      const step = readStep(text)
      if (!step)
        throw usage(
          `Line ${at + 1} of '${path}' cannot be read. Remove the file: the import then reads from the tenant which accounts it already has.`,
        )
      file.#apply(step)
    }
    return file
  }

  /** A migration that was sent, and is not known to have ended. */
  get running(): string | undefined {
    return this.#running
  }

  /** The number of accounts of the export that are in the tenant. */
  get present(): number {
    return this.#accounts.size
  }

  accountOf(old: string): string | undefined {
    return this.#accounts.get(old)
  }

  policyOf(old: string): string | undefined {
    return this.#policies.get(old)
  }

  /** Returns the exported policies by their new locators. */
  originals(): Map<string, string> {
    return new Map([...this.#policies].map(([old, locator]) => [locator, old]))
  }

  hasAuxData(account: string): boolean {
    return this.#withAuxData.has(account)
  }

  begin(migration: string): void {
    this.#write({ running: migration })
  }

  end(migration: string): void {
    this.#write({ ended: migration })
  }

  addAccount(account: string, locator: string, policies: Readonly<Record<string, string>>): void {
    this.#write({ account, locator, policies })
  }

  addAuxData(account: string): void {
    this.#write({ withAuxData: account })
  }

  #write(step: Step): void {
    appendFileSync(this.#path, `${JSON.stringify(step)}\n`)
    this.#apply(step)
  }

  #apply(step: Step): void {
    if ('running' in step) this.#running = step.running
    else if ('ended' in step) this.#running = undefined
    else if ('withAuxData' in step) this.#withAuxData.add(step.withAuxData)
    else {
      this.#accounts.set(step.account, step.locator)
      for (const [old, locator] of Object.entries(step.policies)) this.#policies.set(old, locator)
    }
  }
}
