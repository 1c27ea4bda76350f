import { describeHistories } from './history-properties.ts'

describeHistories('motor')
