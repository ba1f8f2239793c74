import { expect, test } from 'vitest'
import { slowTurn } from '../../workers/jobs/sweep-installation.ts'

const MINUTE = 60_000
const NOW = Date.parse('2026-01-05T12:00:30Z')
const names = (many: number) => Array.from({ length: many }, (_, index) => `${index % 40}#${index}`)

test('all of them come within as many hours as it takes for 45 in each', () => {
  for (const many of [1, 60, 61, 600, 3_000]) {
    const hours = Math.ceil(many / 45)
    const turns = names(many).map(name => slowTurn(name, many, NOW))
    expect(Math.max(...turns)).toBeLessThan(hours * 60 * MINUTE)
    expect(Math.min(...turns)).toBeGreaterThanOrEqual(0)
  }
})

test('no hour has many more than sixty', () => {
  const perHour = Array<number>(67).fill(0)
  for (const name of names(3_000)) perHour[Math.floor(slowTurn(name, 3_000, NOW) / (60 * MINUTE))]!++
  expect(Math.max(...perHour)).toBeLessThan(70)
})

test('who asks again later gets the same minute', () => {
  for (const name of names(100)) {
    const due = NOW + slowTurn(name, 100, NOW)
    for (const later of [1, 7, 31]) {
      const now = NOW + later * MINUTE
      const again = now + slowTurn(name, 100, now)
      if (due > now) expect(Math.floor(again / MINUTE)).toBe(Math.floor(due / MINUTE))
      else expect(again).toBeGreaterThanOrEqual(due)
    }
  }
})
