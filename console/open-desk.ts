// What is loaded when somebody begins to work: forms, previews, confirmations.
import { productDetail } from './find.ts'
import type { Policy, ProductDetail } from './wire.ts'

export const desk = () => import('./desk/desk.ts')

/** The product as the policy's own version of the configuration has it. */
export const productOf = ({ productName, configVersion }: Policy): Promise<ProductDetail> =>
  productDetail(productName, String(configVersion))
