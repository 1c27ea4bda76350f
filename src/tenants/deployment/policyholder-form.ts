// The fields of policyholders as the form of the configuration shows them.
import type { PolicyholderFormField } from '../../product/configuration.ts'
import type { FieldResponse } from './product-contract.ts'

/**
 * Orders and labels the fields of policyholders as the form does. The dictionary and requests require none of them, so the form alone
 * determines which are optional. Fields that the form leaves out come last.
 */
export function fieldsOfForm(
  fields: readonly FieldResponse[],
  form: readonly PolicyholderFormField[] = [],
): FieldResponse[] {
  const known = new Map(fields.map(field => [field.name, field]))
  const shown = form.filter(({ name }) => known.has(name))
  // A condition counts only on an earlier field without conditions of the dictionary, so that no two fields wait for each other.
  const places = new Map(shown.map(({ name }, at) => [name, at]))
  const mayGovern = (name: string, at: number): boolean =>
    known.get(name)?.conditions.length === 0 && (places.get(name) ?? at) < at
  const inForm = shown.map(({ name, prompt, isRequired, conditions }, at): FieldResponse => {
    const field = known.get(name)!
    return {
      ...field,
      ...(prompt !== undefined && { title: prompt }),
      isOptional: !isRequired,
      conditions: [...field.conditions, ...conditions.filter(condition => mayGovern(condition.field, at))],
    }
  })
  const others = fields.filter(({ name }) => !places.has(name))
  return [...inForm, ...others.map(field => ({ ...field, isOptional: true }))]
}
