import { printed } from '../printing.ts'
import type { Filters } from './filter.ts'

/** Filters of documents. The page elements are filled in by the PDF stage, which alone knows the pages. */
export const documentFilters: Filters = {
  page_number: () => '<bindery-page-number></bindery-page-number>',
  page_count: () => '<bindery-page-count></bindery-page-count>',
  image_url: (input, _args, context) =>
    context.state.environment.imageUrl?.(printed(input)) ?? printed(input),
}
