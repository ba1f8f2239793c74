import { expect, test } from 'vitest'
import { foreignCommits } from '../../../src/verdict/append-decisions.ts'

const BOT = 'bailiwick[bot]'
const commit = (author: string | undefined, committer: string | undefined, verified: boolean) => ({
  ...{ sha: 'a'.repeat(40), author, committer, verified },
})

test.each([
  ['by the App', commit(BOT, BOT, true)],
  ['by the App, committed by GitHub', commit(BOT, 'web-flow', true)],
  ['in other letters', commit('Bailiwick[bot]', 'Web-Flow', true)],
])('a verified commit %s is its own', (_, own) => {
  expect(foreignCommits([own], 'bailiwick')).toEqual([])
})

test.each([
  ['without a signature', commit(BOT, BOT, false)],
  ['that names the App as its author, and is signed by its committer', commit(BOT, 'mallory', true)],
  ['of a person by the web page', commit('mallory', 'web-flow', true)],
  ['of another App', commit('other[bot]', 'web-flow', true)],
  ['of a person with the name of the App', commit('bailiwick', 'web-flow', true)],
  ['of nobody', commit(undefined, undefined, true)],
])('a commit %s is foreign', (_, other) => {
  expect(foreignCommits([other], 'bailiwick')).toEqual([other])
})
