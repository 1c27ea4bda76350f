import { describeHistories } from './history-properties.ts'

describeHistories('home')
