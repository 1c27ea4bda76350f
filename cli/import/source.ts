// Reads the files of an export account by account. Memory holds the positions of records, about 150 bytes each, and the records
// of one account.
import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import type { PolicyholderResponse } from '../../src/policyholders/contract.ts'
import type { AuxDataRecord, ExportedAccount } from '../../src/reporting/export/account/account.ts'
import type { DisbursementRecord } from '../../src/reporting/export/account/money.ts'
import type { PolicyRecord } from '../../src/reporting/export/policy-record.ts'
import { usage } from '../exit.ts'
import { describeFile } from '../export/changed-records.ts'
import { readProgress } from '../export/progress.ts'
import { linesOf } from '../lines.ts'

const NAMES = ['policyholders', 'policies', 'disbursements', 'auxData'] as const
type Name = (typeof NAMES)[number]

type Place = { readonly start: number; readonly length: number }

/** An account with the auxiliary data of its policyholder. */
export type SourceAccount = ExportedAccount & { readonly holderAuxData: readonly AuxDataRecord[] }

/** Returns the tenant of the export. Rejects an export that is incomplete, or whose files differ from those that it lists. */
export async function readExported(folder: string): Promise<{ tenantLocator: string }> {
  const progress = readProgress(join(folder, 'export.json'))
  if (!progress) throw usage(`'${folder}' has no export.json. Name the folder that 'bindery export' wrote.`)
  const { tenantLocator, files } = progress
  if (!files)
    throw usage(`The export in '${folder}' is incomplete. Run 'bindery export' again to continue it.`)
  for (const name of NAMES) {
    const { sha256, records } = await describeFile(join(folder, `${name}.ndjson`))
    if (sha256 !== files[name]?.sha256)
      throw usage(
        `'${name}.ndjson' in '${folder}' differs from export.json (${records} records, SHA-256 ${sha256}). Run 'bindery export' again.`,
      )
  }
  return { tenantLocator }
}

export class Source {
  readonly #files: ReadonlyMap<Name, number>
  readonly #holders: ReadonlyMap<string, Place>
  readonly #policies: ReadonlyMap<string, readonly Place[]>
  readonly #policyPlaces: ReadonlyMap<string, Place>
  readonly #disbursements: ReadonlyMap<string, readonly Place[]>
  readonly #auxData: ReadonlyMap<string, readonly Place[]>

  private constructor(
    files: ReadonlyMap<Name, number>,
    places: {
      holders: ReadonlyMap<string, Place>
      policies: ReadonlyMap<string, readonly Place[]>
      policyPlaces: ReadonlyMap<string, Place>
      disbursements: ReadonlyMap<string, readonly Place[]>
      auxData: ReadonlyMap<string, readonly Place[]>
    },
  ) {
    this.#files = files
    this.#holders = places.holders
    this.#policies = places.policies
    this.#policyPlaces = places.policyPlaces
    this.#disbursements = places.disbursements
    this.#auxData = places.auxData
  }

  static async open(folder: string): Promise<Source> {
    const path = (name: Name): string => join(folder, `${name}.ndjson`)
    const holders = new Map<string, Place>()
    await eachLine(path('policyholders'), (line, place) =>
      holders.set((JSON.parse(line) as PolicyholderResponse).locator, place),
    )
    const policies = new Map<string, Place[]>()
    const policyPlaces = new Map<string, Place>()
    await eachLine(path('policies'), (line, place) => {
      const policy = JSON.parse(line) as PolicyRecord
      requireComplete(policy, path('policies'))
      const { locator, policyholderLocator } = policy
      addPlace(policies, policyholderLocator, place)
      policyPlaces.set(locator, place)
    })
    const disbursements = new Map<string, Place[]>()
    await eachLine(path('disbursements'), (line, place) =>
      addPlace(
        disbursements,
        (JSON.parse(line) as { policyholderLocator: string }).policyholderLocator,
        place,
      ),
    )
    const auxData = new Map<string, Place[]>()
    await eachLine(path('auxData'), (line, place) =>
      addPlace(auxData, (JSON.parse(line) as AuxDataRecord).locator, place),
    )
    const files = new Map(NAMES.map(name => [name, openSync(path(name), 'r')] as const))
    return new Source(files, { holders, policies, policyPlaces, disbursements, auxData })
  }

  /** In the order of the file. */
  *accounts(): Generator<SourceAccount> {
    for (const place of this.#holders.values())
      yield this.#account(this.#read<PolicyholderResponse>('policyholders', place))
  }

  #account(holder: PolicyholderResponse): SourceAccount {
    const all = <T>(name: Name, places: readonly Place[] = []): T[] =>
      places.map(place => this.#read<T>(name, place))
    const policies = all<PolicyRecord>('policies', this.#policies.get(holder.locator))
    return {
      holder,
      policies,
      disbursements: all<DisbursementRecord>('disbursements', this.#disbursements.get(holder.locator)),
      auxData: policies.flatMap(one => all<AuxDataRecord>('auxData', this.#auxData.get(one.locator))),
      holderAuxData: all<AuxDataRecord>('auxData', this.#auxData.get(holder.locator)),
    }
  }

  hasAccount(holder: string): boolean {
    return this.#holders.has(holder)
  }

  policy(locator: string): PolicyRecord | undefined {
    const place = this.#policyPlaces.get(locator)
    return place && this.#read<PolicyRecord>('policies', place)
  }

  #read<T>(name: Name, { start, length }: Place): T {
    const buffer = Buffer.alloc(length)
    for (let at = 0; at < length; ) {
      const read = readSync(this.#files.get(name)!, buffer, at, length - at, start + at)
      if (read === 0) throw usage(`'${name}.ndjson' was truncated while it was read.`)
      at += read
    }
    return JSON.parse(buffer.toString()) as T
  }

  close(): void {
    for (const file of this.#files.values()) closeSync(file)
  }
}

/** Properties that an import needs, and that the first exports of a release before the format mark did not have. */
const NEEDED = ['timezone', 'currency', 'invoices', 'futureInvoices', 'segmentCharges', 'holdbacks'] as const

function requireComplete(policy: PolicyRecord, path: string): void {
  const missing = NEEDED.find(name => policy[name] === undefined)
  if (missing !== undefined)
    throw usage(
      `'${path}' was exported by a release whose exports cannot be imported: policy '${policy.locator}' has no '${missing}'. Export into another folder with a later release.`,
    )
}

function addPlace(places: Map<string, Place[]>, key: string, place: Place): void {
  const own = places.get(key)
  if (own) own.push(place)
  else places.set(key, [place])
}

/** Positions are in bytes, not characters, because records are read again by them. */
async function eachLine(path: string, use: (line: string, place: Place) => void): Promise<void> {
  for await (const { text, start, length } of linesOf(path)) use(text, { start, length })
}
