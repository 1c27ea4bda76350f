import { afterAll } from 'vitest'
import { sendExchanges } from './note.ts'

afterAll(sendExchanges)
