// Places in a work list, whose records have digit locators or UUIDs.
import { readDigits } from '../../kernel/locators.ts'
import { type LocatorForm, UUID_FORM } from '../../platform/paging.ts'

export const isDigits = (locator: string): boolean => readDigits(locator) !== undefined

/** Digits are small numbers: their first eight bytes are zero, as those of no UUID are. */
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
