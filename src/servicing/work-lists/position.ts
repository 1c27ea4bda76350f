// Positions in a work list, whose records have locators of digits or UUIDs.
import { readDigits } from '../../kernel/locators.ts'
import { type LocatorForm, UUID_FORM } from '../../platform/paging.ts'

export const isDigits = (locator: string): boolean => readDigits(locator) !== undefined

/** Locators of digits are small numbers, so their first eight bytes are zero. No UUID begins with eight zero bytes. */
const DIGITS = /^0{16}/

export const RECORD_FORM: LocatorForm<string> = {
  write: locator =>
    isDigits(locator) ? Number(locator).toString(16).padStart(32, '0') : locator.replaceAll('-', ''),
  read: hex => {
    if (!DIGITS.test(hex)) return UUID_FORM.read(hex)
    const digits = String(Number.parseInt(hex, 16))
    return isDigits(digits) ? digits : undefined
  },
}
