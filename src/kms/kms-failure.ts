import { BailiwickError } from '../errors.ts'
import type { KmsKey } from '../kube/kms-key.ts'
import { SERVICE_NAMES } from '../kube/sops-services.ts'

/** A failure of the node whose data key was asked for; never with anything of an answer or a credential but a code. */
export function kmsFailure({ service, key }: Pick<KmsKey, 'service' | 'key'>, what: string, fix?: string) {
  return new BailiwickError('cluster-invalid', `cannot be decrypted: ${SERVICE_NAMES[service]} key ${key}: ${what}`, {
    fix,
  })
}
