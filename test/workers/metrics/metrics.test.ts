import { expect, test } from 'vitest'
import { InProcessQueue } from '../../../src/receive/in-process-queue.ts'
import { kindOfRequest, Metrics, measureJobs } from '../../../src/receive/metrics.ts'
import { silentLog } from '../../repository/runner/silent-log.ts'

test.each([
  ['GET', '/repos/{owner}/{repo}/pulls/{pull_number}', 'GET /repos/{owner}/{repo}/pulls/{pull_number}'],
  [
    'POST',
    '/app/installations/{installation_id}/access_tokens',
    'POST /app/installations/{installation_id}/access_tokens',
  ],
  ['GET', '/installation/repositories', 'GET /installation/repositories'],
  ['GET', '/repos/acme/fleet/pulls', 'GET other'],
  ['GET', '/repos/{owner}/fleet', 'GET /repos/{owner}/fleet'.replace('/repos/{owner}/fleet', 'other')],
  ['GET', 'https://api.github.com/repositories/1296269/pulls?page=2', 'GET other'],
  ['TRACE', '/user', 'OTHER /user'],
])('%s %s is counted as %s', (method, url, kind) => {
  expect(kindOfRequest(method, url)).toBe(kind)
})

test('jobs, verdicts, requests, the queue and the thread are told in the format of Prometheus', async () => {
  const metrics = new Metrics()
  const queue = new InProcessQueue(silentLog, { attempts: 1, backoffMs: 1 })
  metrics.watchQueue(() => queue.depths())
  metrics.watchThread(async () => 1_234)
  const measured = measureJobs(queue, metrics, silentLog)
  measured.work('validate-pull-request', async () => undefined)
  measured.work('sweep', async () => {
    throw new Error('no')
  })
  await measured.add('validate-pull-request', { installation: 7, owner: 'acme', repo: 'fleet', pull: 1 })
  await measured.add('sweep', {})
  await queue.idle()
  metrics.verdictReached('pull-request', 'fail')
  metrics.deliveryAnswered(200)
  metrics.revisionShown('coalesced')
  metrics.githubAnswered({
    method: 'GET',
    url: '/repos/{owner}/{repo}',
    status: 200,
    installation: 7,
    remaining: 4_999,
  })
  const { type, text } = await metrics.render()
  expect(type).toMatch(/^text\/plain; version=0\.0\.4/)
  for (const line of [
    'bailiwick_job_seconds_count{job="validate-pull-request",outcome="done"} 1',
    'bailiwick_job_seconds_count{job="sweep",outcome="failed"} 1',
    'bailiwick_verdict_seconds_count{job="validate-pull-request"} 1',
    'bailiwick_verdicts_total{about="pull-request",result="fail"} 1',
    'bailiwick_deliveries_total{status="200"} 1',
    'bailiwick_revision_statuses_total{outcome="coalesced"} 1',
    'bailiwick_github_requests_total{request="GET /repos/{owner}/{repo}",status="200"} 1',
    'bailiwick_github_budget_remaining{installation="7"} 4999',
    'bailiwick_queue_jobs{queue="sweep",state="waiting"} 0',
    'bailiwick_evaluation_heap_bytes 1234',
  ]) {
    expect(text.split('\n')).toContain(line)
  }
  expect(text).not.toMatch(/acme|fleet"/)
  await queue.close(0)
})

test('a queue that does not answer leaves its figures out, and the others in', async () => {
  const metrics = new Metrics({ ofProcess: true })
  metrics.watchQueue(() => Promise.reject(new Error('gone')))
  const { text } = await metrics.render()
  expect(text).not.toMatch(/^bailiwick_queue_jobs\{/m)
  expect(text).toMatch(/^nodejs_heap_size_used_bytes /m)
})

test('however many installations there are, their label has an end', async () => {
  const metrics = new Metrics()
  for (let installation = 1; installation <= 500; installation++) {
    metrics.githubAnswered({ method: 'GET', url: '/user', status: 200, installation, remaining: 1 })
  }
  expect((await metrics.render()).text.match(/^bailiwick_github_budget_remaining\{/gm)).toHaveLength(200)
})
