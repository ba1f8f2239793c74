import { generateIdentity, identityToRecipient } from 'age-encryption'
import { verifyMac } from '../../../src/flux/sops/decrypt-object.ts'
import type { Json } from '../../../src/kube/node.ts'
import { parseDocuments } from '../../../src/kube/yaml/parse-documents.ts'
import type { TestCluster } from '../../../tools/envtest/start.ts'
import type { FakeGitHub } from '../../../tools/github/start.ts'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { openDocument } from '../../flux/sops/open-document.ts'
import { type Stage, type StageOptions, startStage } from './stage.ts'

export const FLEET = 'acme/fleet'
export const TEAM = 'acme/ops-team'
/** Where the sealed Secret of ops-team lies. */
export const AUTH = 'tenants/base/ops-team/auth.yaml'
export const ONBOARD =
  '/bailiwick onboard ops-team --repo https://github.com/acme/ops-team --namespace ops --cluster staging --role admin --access deploy-key'

const TENANTS = 'clusters/staging/tenants.yaml'

/** The acme fleet, which encrypts its Secrets to `identity` on staging. */
export interface SealedFleet {
  readonly stage: Stage
  /** The private age key of the cluster. */
  readonly identity: string
  /** An issue of the fleet, for comments. */
  readonly issue: number
}

/** A stage on a fleet that decrypts with SOPS, whose App may administer repositories. */
export async function openSealedFleet(options: StageOptions = {}): Promise<SealedFleet> {
  const identity = await generateIdentity()
  const recipient = await identityToRecipient(identity)
  const stage = await startStage({
    retry: { attempts: 3, backoffMs: 10 },
    ...options,
    prepare: github => {
      sealFleet(github, recipient)
      options.prepare?.(github)
    },
  })
  for (const cluster of Object.values(stage.clusters)) await giveIdentity(cluster, identity)
  const issue = stage.github.issue({ repo: FLEET, title: 'A tenant', body: 'please', as: 'ada' }).number
  await stage.settle()
  return { stage, identity, issue }
}

/** The fleet encrypts to this recipient, and the App may administer repositories. */
export function sealFleet(github: FakeGitHub, recipient: string): void {
  github.push({ repo: FLEET, files: sealedFiles(recipient), as: 'ada' })
  mayAdminister(github, 'write')
}

/** What the App is granted on the one installation. */
export function mayAdminister(github: FakeGitHub, administration: 'read' | 'write'): void {
  const installation = github.world.installations.values().next().value!
  installation.permissions = { ...(installation.permissions as object), administration }
}

function sealedFiles(recipient: string): Record<string, string> {
  const text = String((fleetFiles(FLEET) as Record<string, unknown>)[TENANTS])
  const decryption = '  decryption:\n    provider: sops\n    secretRef:\n      name: sops-age\n'
  return {
    '.sops.yaml': `creation_rules:\n  - age: ${recipient}\n    encrypted_regex: ^(data|stringData)$\n`,
    [TENANTS]: text.replace('  prune: true\n', `  prune: true\n${decryption}`),
  }
}

/** As the guide of Flux says: `kubectl create secret generic sops-age --from-file=age.agekey`. */
export async function giveIdentity(cluster: TestCluster, identity: string): Promise<void> {
  const metadata = { name: 'sops-age', namespace: 'flux-system' }
  const { status } = await cluster.request('POST', '/api/v1/namespaces/flux-system/secrets', {
    metadata,
    stringData: { 'age.agekey': identity },
  })
  if (status !== 201) throw new Error(`the age key: ${status}`)
}

interface OpenedSecret {
  readonly metadata: Json
  readonly values: Readonly<Record<string, string>>
}

/** A sealed Secret, opened as kustomize-controller would; throws where its MAC is not sound. */
export async function openSecret(text: string, identity: string): Promise<OpenedSecret> {
  const [root] = parseDocuments({ repository: '', path: AUTH }, Buffer.from(text))
  if (root?.type !== 'map') throw new Error('no map')
  const mac = await verifyMac([root], { age: [identity] })
  if (mac !== 'sound') throw new Error(`MAC: ${mac}`)
  const opened = await openDocument(root, { age: [identity] })
  return { metadata: opened.metadata!, values: opened.stringData as Record<string, string> }
}
