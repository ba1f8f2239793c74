import { expect, test } from 'vitest'
import { base, bot, jobsOf, place } from './hearing.ts'

const label = { name: 'tenant-request' }
const issue = (action: string, more: object = {}, event: object = {}): object => ({
  ...base,
  action,
  issue: { number: 8, body: 'hello', labels: [], ...more },
  ...event,
})
const asked = [['tenant-request', { ...place, issue: 8 }]]

test.each([
  ['opened with the form', issue('opened', { labels: [label] })],
  ['opened with the form where nobody made the label', issue('opened', { body: '### Tenant\r\n\r\nops\n' })],
  ['a label in other letters', issue('opened', { labels: [{ name: 'Tenant-Request' }] })],
  ['mended', issue('edited', { labels: [label] })],
  ['opened again', issue('reopened', { labels: [label] })],
  ['labelled later', issue('labeled', {}, { label })],
])('%s: a request', async (_, payload) => {
  expect(await jobsOf('issues', payload)).toEqual(asked)
})

test.each([
  ['any issue', issue('opened')],
  ['an issue without text', issue('opened', { body: null, labels: undefined })],
  ['another label', issue('labeled', { labels: [label] }, { label: { name: 'bug' } })],
  ['closed', issue('closed', { labels: [label] })],
  ['a heading that is not the first', issue('opened', { body: 'hi\n### Tenant' })],
  ['a bot', issue('opened', { labels: [label] }, { sender: bot })],
])('%s: none', async (_, payload) => {
  expect(await jobsOf('issues', payload)).toEqual([])
})
