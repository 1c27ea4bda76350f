import { expect, test } from 'vitest'
import { productLocator } from '../../src/product/check/product/product.ts'

test('the locator of a product never changes', () => {
  expect(productLocator('private_motor')).toBe('d04f29ab-cb49-5417-ae3c-8a798e67ae42')
})

test('a name in composed and in decomposed letters has the same locator', () => {
  expect(productLocator('caf\u00e9')).toBe(productLocator('cafe\u0301'))
})

test('different names have different locators', () => {
  const names = Array.from({ length: 1_000 }, (_, index) => `product ${index}`)
  expect(new Set(names.map(productLocator)).size).toBe(1_000)
})
