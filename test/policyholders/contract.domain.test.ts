import { expect, test } from 'vitest'
import {
  PolicyholderCreateRequest,
  PolicyholderListQuery,
  PolicyholderOverwriteDataRequest,
  PolicyholderUpdateRequest,
} from '../../src/policyholders/contract.ts'

test('a policyholder is completed unless the request says that it is a draft', () => {
  expect(PolicyholderCreateRequest.parse({})).toEqual({ completed: true, subEntities: [], values: {} })
})

test('an update names the version that it changes', () => {
  const { error } = PolicyholderUpdateRequest.safeParse({ locator: 'l', completed: true })
  expect(error!.issues.map(issue => issue.message)).toEqual(["'version' is missing; it must be a number."])
  expect(PolicyholderUpdateRequest.parse({ locator: 'l', completed: 'true', version: '3' }).version).toBe(3)
})

test('a list has 100 rows a page, and a search has a field and one of value and prefix', () => {
  expect(PolicyholderListQuery.parse({})).toEqual({ pageSize: 100 })
  expect(PolicyholderListQuery.parse({ searchField: 'name', searchPrefix: 'Smi' }).searchPrefix).toBe('Smi')
  for (const wire of [
    { searchField: 'name' },
    { searchValue: 'Smith' },
    { searchField: 'name', searchValue: 'Smith', searchPrefix: 'Smi' },
  ])
    expect(PolicyholderListQuery.safeParse(wire).error?.issues[0]?.message).toBe(
      "'searchField' must come together with one of searchValue and searchPrefix.",
    )
})

test('what overwrites is text', () => {
  expect(PolicyholderOverwriteDataRequest.parse({ overwrites: { name: '' } }).overwrites).toEqual({
    name: '',
  })
  expect(PolicyholderOverwriteDataRequest.safeParse({ overwrites: { name: null } }).success).toBe(false)
})
