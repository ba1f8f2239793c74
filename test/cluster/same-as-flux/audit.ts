import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface AuditEvent {
  readonly verb: string
  readonly requestURI: string
  readonly impersonatedUser?: { readonly username: string }
  readonly objectRef?: {
    readonly resource: string
    readonly namespace?: string
    readonly name?: string
    readonly subresource?: string
  }
  readonly responseStatus?: { readonly code: number }
}

/** What an API server was asked by accounts, from its audit log. */
export interface AuditLog {
  /** Flags of kube-apiserver. */
  readonly flags: readonly string[]
  /** What came since the last call, by the name of the user. */
  take(): ReadonlyMap<string, readonly string[]>
  close(): void
}

const READS = new Set(['get', 'list', 'watch'])
const POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata' }],
}

/** Opens a log of the requests of impersonated users; reads are `read`, whatever was read. */
export function openAuditLog(): AuditLog {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-audit-'))
  const [policy, log] = [join(folder, 'policy.json'), join(folder, 'log')]
  writeFileSync(policy, JSON.stringify(POLICY))
  writeFileSync(log, '')
  let seen = 0
  return {
    flags: [`--audit-policy-file=${policy}`, `--audit-log-path=${log}`, '--audit-log-maxsize=1000'],
    take() {
      const content = readFileSync(log)
      const end = content.lastIndexOf(0x0a) + 1
      const lines = content.subarray(seen, end).toString().split('\n').filter(Boolean)
      seen = end
      const taken = new Map<string, string[]>()
      for (const line of lines) {
        const event: AuditEvent = JSON.parse(line)
        const user = event.impersonatedUser?.username
        if (user === undefined || event.objectRef === undefined) continue
        taken.set(user, [...(taken.get(user) ?? []), said(event)])
      }
      return taken
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}

function said({ verb, requestURI, objectRef, responseStatus }: AuditEvent): string {
  const { resource, namespace = '', name = '', subresource } = objectRef!
  const about = [resource, namespace, name, ...(subresource ? [subresource] : [])].filter(Boolean).join('/')
  if (READS.has(verb)) return `read ${about}`
  const query = new URL(requestURI, 'https://cluster').searchParams
  const dry = query.has('dryRun') ? ' dry-run' : ''
  return `${verb}${dry} ${about} ${responseStatus?.code ?? 0}`
}
