// Loads the desk (forms, previews, confirmations) when the user begins to work.
import { loadPart } from './api.ts'
import { productDetail } from './find.ts'
import type { Policy, ProductDetail } from './wire.ts'

export const desk = () => loadPart(() => import('./desk/desk.ts'))

/** The product in the version of the configuration that the policy uses. */
export const productOf = ({ productName, configVersion }: Policy): Promise<ProductDetail> =>
  productDetail(productName, String(configVersion))
