import { expect, test } from 'vitest'
import { type CredentialReport, NOT_COMPARED } from '../../src/credentials/credential-report.ts'
import { recipientsText } from '../../src/credentials/recipients-text.ts'

const report = (files: readonly string[], notVisible: readonly string[] = []): CredentialReport => ({
  ...{ sources: [], clear: [], notVisible },
  resealed: files.map(file => ({ file, line: 1, left: ['age:age1left'], missing: [] })),
})

test('where every file fits, the issue is closed', () => {
  expect(recipientsText(report([], ['x.yaml: no rule matches it']))).toMatchObject({ state: 'closed' })
})

test('nothing is closed while files were not compared, and an open issue says so', () => {
  const unread = [`${NOT_COMPARED}too many`]
  expect(recipientsText(report([], unread))).toBeUndefined()
  expect(recipientsText(report(['a.yaml'], unread))?.body).toContain(`Not compared: \`${NOT_COMPARED}too many\``)
})

test('files and commands are bounded', () => {
  const files = Array.from({ length: 1_000 }, (_, index) => `${'d'.repeat(200)}/${index}.yaml`)
  const { body } = recipientsText(report(files))!
  expect(body.match(/^- `/gm)).toHaveLength(50)
  expect(body.match(/^sops updatekeys/gm)).toHaveLength(50)
  expect(body).toContain('- and 950 more: run `bailiwick credentials`')
  expect(body).toContain('# and 950 more')
  expect(body.length).toBeLessThan(60_000)
})

test('the name of a file is neither a mention nor a link, nor the end of a code block', () => {
  const { body } = recipientsText(report(['x`\n```\n@acme/all [x](https://evil.example).yaml']))!
  const fences = body.split('\n').filter(line => line.startsWith('```'))
  expect(fences).toHaveLength(4)
  const outside = body.split(/^```.*$/m).filter((_, index) => index % 2 === 0)
  for (const text of outside) expect(text.replace(/`[^`\n]*`/g, '')).not.toMatch(/@acme|evil/)
})
