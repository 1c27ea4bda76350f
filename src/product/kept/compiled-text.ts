// How a compiled configuration is kept in R2: as JSON, with each table once.
import type { Configuration, LookupTable } from '../configuration.ts'

/**
 * Part of the name that a compiled configuration is kept under. Raised whenever `compileConfiguration` makes
 * something else of the same archive: a newer Worker then compiles again instead of reading what an older one kept.
 */
export const COMPILER_FORMAT = 3

/** `tables` of the tenant are tables of its products: each only names the product that has it. */
type Kept = Omit<Configuration, 'tables'> & { tables: Record<string, string> }

/** The configuration as JSON text. */
export function compiledText(configuration: Configuration): string {
  const products = Object.values(configuration.products)
  const holderOf = (name: string, table: LookupTable): string => {
    const holder = products.find(
      product => Object.hasOwn(product.tables, name) && product.tables[name] === table,
    )
    if (!holder) throw new Error(`The table '${name}' of the tenant is none of a product.`)
    return holder.name
  }
  const tables = Object.entries(configuration.tables).map(([name, table]) => [name, holderOf(name, table)])
  const kept: Kept = { ...configuration, tables: Object.fromEntries(tables) }
  return JSON.stringify(kept)
}

/** The configuration of a text that `compiledText` made. */
export function readCompiledText(text: string): Configuration {
  const kept = JSON.parse(text) as Kept
  const tables = Object.entries(kept.tables).map(([name, product]) => [
    name,
    kept.products[product]!.tables[name]!,
  ])
  return { ...kept, tables: Object.fromEntries(tables) }
}
