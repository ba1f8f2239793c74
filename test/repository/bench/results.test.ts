import { expect, test } from 'vitest'
import { figuresIn, resultsPage } from '../../../bench/results.ts'

const run = { commit: 'abc', date: '2026-06-30', machine: '2 cores', isFull: false }
const names = (page: string) => [...figuresIn(page).keys()]
const changes = (page: string) => [...page.matchAll(/^\| (\S+ %|new) \|/gm)].map(match => match[1])

test('a page of results is read again as it was written', () => {
  const figures = [
    { name: 'a: cold', wall: 1234.5, cpu: 99.94, memory: 220, ratio: 0.123, to: 'kustomize' },
    { name: 'b: warm', wall: 3 },
  ]
  expect([...figuresIn(resultsPage(run, figures, '')).values()]).toEqual([
    { name: 'a: cold', wall: 1235, cpu: 99.9, memory: 220, ratio: 0.12 },
    { name: 'b: warm', wall: 3 },
  ])
})

test('what became worse comes first, by the ratio to a peer before CPU time before wall time', () => {
  const before = [
    { name: 'same', wall: 10 },
    { name: 'worse by ratio', wall: 10, ratio: 2, to: 'peer' },
    { name: 'better by CPU', wall: 10, cpu: 10 },
    { name: 'worst by CPU', wall: 10, cpu: 10 },
  ]
  const now = [
    { name: 'same', wall: 10 },
    { name: 'new', wall: 1 },
    { name: 'better by CPU', wall: 90, cpu: 5 },
    { name: 'worse by ratio', wall: 1, ratio: 3, to: 'peer' },
    { name: 'worst by CPU', wall: 10, cpu: 30 },
  ]
  const page = resultsPage(run, now, resultsPage(run, before, ''))
  expect(names(page)).toEqual(['worst by CPU', 'worse by ratio', 'same', 'better by CPU', 'new'])
  expect(changes(page)).toEqual(['+200 %', '+50 %', '+0 %', '-50 %', 'new'])
})
