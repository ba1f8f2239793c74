import { expect, test } from 'vitest'
import { commentOf } from '../../../src/report/comment.ts'
import type { ReportContext } from '../../../src/report/outcome.ts'
import type { Fix } from '../../../src/verdict/fixes.ts'
import { finding, OPS, verdict } from '../samples.ts'

const context: ReportContext = { kind: 'pull-request', repository: OPS, headSha: 'a'.repeat(40) }

/** A finding and the edit that mends it, in a file of its own. */
function fixed(index: number, patch: readonly string[] | undefined, rule = 'pod-security') {
  const origin = { repository: OPS, file: `f${index}.yaml`, line: 2, column: 3 }
  const one = finding({ rule, origin, fingerprint: `${rule}${index}`, cause: `${index}`, field: '/spec/x' })
  const edit: Fix = {
    ...{ path: origin.file, first: 2, last: 2, lines: ['b'], before: ['a'], id: String(index), findings: [one] },
    ...(patch ? { patch } : {}),
  }
  return { one, edit }
}

const bodyOf = (list: readonly ReturnType<typeof fixed>[]): string =>
  commentOf(verdict({ result: 'fail', violations: list.map(({ one }) => one) }), {
    ...context,
    fixes: list.map(({ edit }) => edit),
  })!

test('an edit is in a fence that nothing in it ends', () => {
  const patch = ['--- a/f1.yaml', '+++ b/f1.yaml', '@@ -1,1 +1,1 @@', '-```', '+a', ' ````` </details>']
  expect(bodyOf([fixed(1, patch)])).toContain(`\n\n\`\`\`\`\`\`diff\n${patch.join('\n')}\n\`\`\`\`\`\`\n\n</details>`)
})

test('an edit that mends several findings is there once, and the others name it', () => {
  const { one, edit } = fixed(1, ['@@ once @@'])
  const other = { ...one, rule: 'pod-priority', field: '/spec/y', fingerprint: 'other' }
  const list = [{ one, edit: { ...edit, findings: [one, other] } }]
  const body = commentOf(verdict({ result: 'fail', violations: [one, other] }), { ...context, fixes: [list[0]!.edit] })!
  expect(body.match(/@@ once @@/g)).toHaveLength(1)
  expect(body).toMatch(/Edit: included in the edit of `[a-z-]+` at `f1\.yaml:2` above\./)
})

test('an edit that cannot be shown, or has no room, is named with the command that writes it', () => {
  expect(bodyOf([fixed(1, undefined)])).toContain('Edit: not shown. `bailiwick fix --apply` writes it.')
  const long = (size: number) => ['x'.repeat(size - '```diff\n\n```'.length)]
  const full = bodyOf([fixed(1, long(20_000)), fixed(2, ['@@ second @@'])])
  expect(full).toContain('Edit, for `git apply`:')
  expect(full).toContain('Edit: omitted for length. `bailiwick fix --apply` writes it.')
  expect(full).not.toContain('@@ second @@')
  expect(bodyOf([fixed(1, long(20_001))])).toContain('Edit: omitted for length.')
})

test('with more findings than a comment takes, the note counts those that went with their edits', () => {
  const list = Array.from({ length: 400 }, (_, index) => fixed(index + 100, ['@@ -1,1 +1,1 @@', '-a', '+b']))
  const body = bodyOf(list)
  expect(body.length).toBeLessThanOrEqual(60_000)
  expect(body).toMatch(/\*\*Left out for length:\*\* \d+ × violation of `pod-security` with its edit\./)
  expect(body.match(/^```diff$/gm)?.length).toBe(body.match(/^```$/gm)?.length)
})
