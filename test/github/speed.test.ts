import { expect, test } from 'vitest'
import { NAME } from '../../tools/github/acme.ts'
import { hearing } from './hearing.ts'

test('60 pull requests and 400 deliveries cost little time of the processor', async () => {
  const env = await hearing({ checkResponses: false })
  await env.hush()
  const before = process.cpuUsage()
  const parent = env.github.commitOf(NAME, 'main')
  for (let n = 0; n < 60; n++) {
    env.github.push({ repo: NAME, branch: `b${n}`, files: { [`x/${n}`]: '1' }, as: 'dev', parent })
    const { number } = env.github.openPullRequest({ repo: NAME, head: `b${n}`, as: 'dev' }).issue
    env.github.push({ repo: NAME, branch: `b${n}`, files: { [`x/${n}`]: '2' }, as: 'dev' })
    env.github.comment({ repo: NAME, issue: number, body: 'x', as: 'dev' })
  }
  await env.github.idle()
  const { user, system } = process.cpuUsage(before)
  expect(env.hook.heard.length).toBeGreaterThanOrEqual(400)
  expect((user + system) / 1000).toBeLessThan(4000)
  await env.close()
})
