import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { run } from '../../surface/cli/run-main.ts'
import type { Manifest, Pod } from './pods/manifest.ts'
import { allows, type End } from './pods/network-policy.ts'

const ROOT = join(import.meta.dirname, '../../..')
const INTERNET = { ip: '140.82.112.3' }
const METADATA = [{ ip: '169.254.169.254' }, { ip: 'fd00:ec2::254' }]

async function deployed(folder: string, root = ROOT) {
  const { stdout } = await run(root, 'render', join(root, 'deploy', folder), '-o', 'json')
  const all: readonly Manifest[] = JSON.parse(stdout)
  const policies = all.filter(({ kind }) => kind === 'NetworkPolicy')
  /** A pod as its Deployment or StatefulSet makes it. */
  const podOf = (name: string): End => {
    const found = all.find(({ kind, metadata }) => /^(Deployment|StatefulSet)$/.test(kind) && metadata.name === name)!
    const { metadata, spec } = (found.spec as { template: Pod }).template
    const namespace = found.metadata.namespace!
    return {
      pod: { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name, namespace }, spec },
      namespaceLabels: { 'kubernetes.io/metadata.name': namespace },
    }
  }
  const reach = (from: End, to: End, port: number, protocol: 'TCP' | 'UDP' = 'TCP') =>
    allows(policies, { from, to, port, protocol })
  return { policies, podOf, reach }
}

/** A pod of somebody else. */
const stranger = (namespace: string, labels: Readonly<Record<string, string>> = {}): End => ({
  pod: {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'stranger', namespace, labels } },
    spec: {
      ...{ serviceAccountName: 'default', terminationGracePeriodSeconds: 1, containers: [], volumes: [] },
      securityContext: { runAsUser: 1, runAsGroup: 1 },
    },
  },
  namespaceLabels: { 'kubernetes.io/metadata.name': namespace },
})
const dns = stranger('kube-system', { 'k8s-app': 'kube-dns' })

test('the web process and the workers reach DNS, Redis and TLS, and nothing else', async () => {
  const { podOf, reach } = await deployed('example')
  for (const from of [podOf('bailiwick-web'), podOf('bailiwick-worker')]) {
    expect(reach(from, dns, 53, 'UDP') && reach(from, dns, 53)).toBe(true)
    expect(reach(from, podOf('bailiwick-redis'), 6379)).toBe(true)
    expect(reach(from, INTERNET, 443) && reach(from, { ip: '2606:50c0::1' }, 443)).toBe(true)
    expect(reach(from, { ip: '10.0.0.1' }, 6443)).toBe(true)
    expect(reach(from, INTERNET, 80) || reach(from, INTERNET, 22)).toBe(false)
    expect(METADATA.some(to => reach(from, to, 443))).toBe(false)
    expect(reach(from, stranger('apps'), 6379) || reach(from, stranger('bailiwick'), 5432)).toBe(false)
  }
})

test('only the port of the web process is open; Redis is open to the App alone', async () => {
  const { podOf, reach } = await deployed('example')
  const ingress = stranger('ingress-nginx')
  expect(reach(ingress, podOf('bailiwick-web'), 3000)).toBe(true)
  expect(reach(ingress, podOf('bailiwick-web'), 3001)).toBe(false)
  expect(reach(ingress, podOf('bailiwick-worker'), 3000)).toBe(false)
  expect(reach(stranger('apps'), podOf('bailiwick-redis'), 6379)).toBe(false)
  expect(reach(stranger('apps', { 'app.kubernetes.io/part-of': 'bailiwick' }), podOf('bailiwick-redis'), 6379)).toBe(
    false,
  )
  expect(reach(podOf('bailiwick-redis'), INTERNET, 443)).toBe(false)
})

test('the component for monitoring opens the metrics of the workers to Prometheus, and to no other namespace', async () => {
  const root = mkdtempSync(join(tmpdir(), 'bailiwick-monitored-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  cpSync(join(ROOT, 'deploy'), join(root, 'deploy'), { recursive: true })
  const file = join(root, 'deploy/example/kustomization.yaml')
  // as its comment says
  writeFileSync(file, readFileSync(file, 'utf8').replace('# - ../monitoring', '- ../monitoring'))
  const { podOf, reach } = await deployed('example', root)
  expect(reach(stranger('monitoring'), podOf('bailiwick-worker'), 3000)).toBe(true)
  expect(reach(stranger('monitoring'), podOf('bailiwick-worker'), 3001)).toBe(false)
  const without = await deployed('example')
  expect(without.reach(stranger('monitoring'), without.podOf('bailiwick-worker'), 3000)).toBe(false)
})

test('the worker in a cluster is not reached, and reaches the API server, the web process and DNS', async () => {
  const { policies, podOf, reach } = await deployed('worker')
  const worker = podOf('bailiwick-worker')
  expect(reach(worker, dns, 53, 'UDP')).toBe(true)
  expect(reach(worker, { ip: '10.96.0.1' }, 443) && reach(worker, { ip: '172.18.0.2' }, 6443)).toBe(true)
  expect(reach(worker, INTERNET, 443)).toBe(true)
  expect(METADATA.some(to => reach(worker, to, 443)) || reach(worker, INTERNET, 80)).toBe(false)
  expect([3000, 443].some(port => reach(stranger('monitoring'), worker, port))).toBe(false)
  // a new pod of its namespace is closed too
  expect(policies.map(({ spec }) => (spec as { podSelector: object }).podSelector)).toEqual([{}])
})
