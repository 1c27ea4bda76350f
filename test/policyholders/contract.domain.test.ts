import { expect, test } from 'vitest'
import {
  PolicyholderCreateRequest,
  PolicyholderListQuery,
  PolicyholderOverwriteDataRequest,
  PolicyholderUpdateRequest,
} from '../../src/policyholders/contract.ts'

test('a policyholder is completed by default', () => {
  expect(PolicyholderCreateRequest.parse({})).toEqual({ completed: true, subEntities: [], values: {} })
})

test('an update requires the version that it changes', () => {
  const { error } = PolicyholderUpdateRequest.safeParse({ locator: 'l', completed: true })
  expect(error!.issues.map(issue => issue.message)).toEqual(["'version' is missing; it must be a number."])
  expect(PolicyholderUpdateRequest.parse({ locator: 'l', completed: 'true', version: '3' }).version).toBe(3)
})

test('a list has 100 rows per page by default, and a search needs a field with either a value or a prefix', () => {
  expect(PolicyholderListQuery.parse({})).toEqual({ pageSize: 100 })
  expect(PolicyholderListQuery.parse({ searchField: 'name', searchPrefix: 'Smi' }).searchPrefix).toBe('Smi')
  for (const wire of [
    { searchField: 'name' },
    { searchValue: 'Smith' },
    { searchField: 'name', searchValue: 'Smith', searchPrefix: 'Smi' },
  ])
    expect(PolicyholderListQuery.safeParse(wire).error?.issues[0]?.message).toBe(
      "'searchField' must be sent together with one of searchValue and searchPrefix.",
    )
})

test('overwriting values must be text, and can be empty', () => {
  expect(PolicyholderOverwriteDataRequest.parse({ overwrites: { name: '' } }).overwrites).toEqual({
    name: '',
  })
  expect(PolicyholderOverwriteDataRequest.safeParse({ overwrites: { name: null } }).success).toBe(false)
})
