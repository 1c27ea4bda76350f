// Digits of each currency's minor unit, by ISO 4217 (brief 3.1). The list is fixed here because stored amounts count in these
// units: what a runtime reports follows cash usage and differs between versions.

const DIGITS: { readonly [digits: number]: string } = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
}

/** Digits of the currencies whose minor unit does not have two. */
export const UNUSUAL_DIGITS: Readonly<Record<string, number>> = Object.fromEntries(
  Object.entries(DIGITS).flatMap(([digits, codes]) => codes.split(' ').map(code => [code, Number(digits)])),
)

/** Returns the digits of a currency's minor unit: 2 for EUR, 0 for JPY, 3 for BHD. */
export const digitsOfCurrency = (code: string): number =>
  Object.hasOwn(UNUSUAL_DIGITS, code) ? UNUSUAL_DIGITS[code]! : 2
