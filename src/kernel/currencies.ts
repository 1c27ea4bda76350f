// How many digits the minor unit of a currency has, by ISO 4217 (brief 3.1). Written down here: what runtimes know follows what is
// usual in cash, differs between their versions, and stored amounts count in these units.

const DIGITS: { readonly [digits: number]: string } = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
}

/** Of the currencies that have other than two. */
export const UNUSUAL_DIGITS: Readonly<Record<string, number>> = Object.fromEntries(
  Object.entries(DIGITS).flatMap(([digits, codes]) => codes.split(' ').map(code => [code, Number(digits)])),
)

/** 2 for EUR, 0 for JPY, 3 for BHD. */
export const digitsOfCurrency = (code: string): number =>
  Object.hasOwn(UNUSUAL_DIGITS, code) ? UNUSUAL_DIGITS[code]! : 2
