import { expect, test } from 'vitest'
import { Circuit, circuitOf, OPEN_MS, OPENING_FAILURES } from '../../src/extension/integrations/call/call.ts'
import type { Instant } from '../../src/kernel/time.ts'

const at = (ms: number): Instant => ms as Instant

/** Returns a circuit that failures at time 0 have opened. */
function opened(): Circuit {
  const circuit = new Circuit()
  for (let failures = 0; failures < OPENING_FAILURES; failures += 1) {
    expect(circuit.admit(at(0))).toBe(0)
    circuit.record(false, at(0))
  }
  return circuit
}

test('a circuit opens after five failures in a row, and returns how long it stays open', () => {
  const circuit = opened()
  expect(circuit.admit(at(0))).toBe(OPEN_MS)
  expect(circuit.admit(at(OPEN_MS - 1))).toBe(1)
})

test('a success resets the count of failures', () => {
  const circuit = new Circuit()
  for (const isUp of [false, false, false, false, true, false, false, false, false])
    circuit.record(isUp, at(0))
  expect(circuit.admit(at(0))).toBe(0)
})

test('after the wait exactly one call is admitted as a trial', () => {
  const circuit = opened()
  expect(circuit.admit(at(OPEN_MS))).toBe(0)
  expect(circuit.admit(at(OPEN_MS))).toBeGreaterThan(0)
})

test('a successful trial closes the circuit, and a failed one opens it for as long again', () => {
  const [mended, down] = [opened(), opened()]
  for (const circuit of [mended, down]) circuit.admit(at(OPEN_MS))
  mended.record(true, at(OPEN_MS + 1))
  down.record(false, at(OPEN_MS + 1))
  expect([mended.admit(at(OPEN_MS + 2)), mended.admit(at(OPEN_MS + 2))]).toEqual([0, 0])
  expect(down.admit(at(OPEN_MS + 2))).toBe(OPEN_MS - 1)
})

test('a trial that never ends does not keep the circuit open for ever', () => {
  const circuit = opened()
  circuit.admit(at(OPEN_MS))
  const waitMs = circuit.admit(at(OPEN_MS + 1))
  expect(circuit.admit(at(OPEN_MS + 1 + waitMs))).toBe(0)
})

test('each key has its own circuit', () => {
  expect(circuitOf('a')).toBe(circuitOf('a'))
  expect(circuitOf('a')).not.toBe(circuitOf('b'))
})
