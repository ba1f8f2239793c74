import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { NAME } from '../../tools/github/acme.ts'
import { hearing } from './hearing.ts'

let env: Awaited<ReturnType<typeof hearing>>
beforeEach(async () => {
  // no checks: nothing but the pushes themselves is heard
  env = await hearing({ patienceMs: 300, app: { permissions: { contents: 'read' } } })
  await env.github.idle()
})
afterEach(async () => {
  vi.useRealTimers()
  expect(env.github.responseViolations).toEqual([])
  expect(env.github.violations).toEqual([])
  await env.close()
})

const push = (n: number) => env.github.push({ repo: NAME, files: { n: String(n) }, as: 'ada' })
const log = async (query = {}) => (await env.app.rest.apps.listWebhookDeliveries({ per_page: 100, ...query })).data

test('what was not taken is in the log with its reason, and nothing is sent again by itself', async () => {
  const { url } = env.hook
  env.github.app.webhookUrl = 'http://127.0.0.1:1/'
  push(1)
  await env.github.idle()
  const broken = await env.receiver(500)
  env.github.app.webhookUrl = broken.url
  push(2)
  await env.github.idle()
  const silent = await env.receiver('silent')
  env.github.app.webhookUrl = silent.url
  push(3)
  await env.github.idle()
  env.github.app.webhookUrl = url
  push(4)
  await env.github.idle()
  expect((await log()).map(each => [each.status_code, each.status])).toEqual([
    [200, 'OK'],
    [504, 'timed out'],
    [500, 'Invalid HTTP Response: 500'],
    [502, 'failed to connect to host'],
    [200, 'OK'],
  ])
  expect(await log({ status: 'failure' })).toHaveLength(3)
  expect(broken.heard).toHaveLength(1)
  await Promise.all([broken.close(), silent.close()])
})

test('sent again it keeps its guid and payload, has an id of its own, and says that it is again', async () => {
  const { url } = env.hook
  env.github.app.webhookUrl = 'http://127.0.0.1:1/'
  push(1)
  await env.github.idle()
  env.github.app.webhookUrl = url
  const [lost] = await log()
  await env.app.rest.apps.redeliverWebhookDelivery({ delivery_id: lost!.id })
  const again = (await env.heard()).at(-1)!
  expect(again.headers['x-github-delivery']).toBe(lost!.guid)
  const [first, second] = await log()
  expect(first).toMatchObject({ guid: lost!.guid, redelivery: true, status_code: 200, event: 'push' })
  expect(first!.id).toBeGreaterThan(lost!.id)
  expect(second!.id).toBe(lost!.id)
  const { data } = await env.app.rest.apps.getWebhookDelivery({ delivery_id: lost!.id })
  expect(data.request.payload).toEqual(again.payload)
  expect(data.request.headers).toMatchObject({ 'x-github-event': 'push' })
  const unknown = env.app.rest.apps.redeliverWebhookDelivery({ delivery_id: 1 })
  await expect(unknown).rejects.toMatchObject({ status: 404 })
})

test('the log is read by a cursor, newest first, each once, for three days', async () => {
  for (let n = 0; n < 7; n++) push(n)
  await env.github.idle()
  const all = await log()
  const paged = await env.app.paginate(env.app.rest.apps.listWebhookDeliveries, { per_page: 3 })
  expect(paged).toEqual(all)
  expect(all).toHaveLength(8)
  const link = (await env.app.rest.apps.listWebhookDeliveries({ per_page: 3 })).headers.link
  expect(link).toMatch(new RegExp(`per_page=3&cursor=v1_${all[2]!.id}>; rel="next"`))
  await expect(log({ cursor: 'v1_1' })).rejects.toMatchObject({ status: 422 })
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3 * 86_400_000 + 1000 })
  expect(await log()).toEqual([])
})
