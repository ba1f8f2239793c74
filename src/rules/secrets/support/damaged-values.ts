import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { objectPart, quoted } from '../../../facts/shown.ts'
import type { Subject } from '../../../facts/subject.ts'
import { at, type Path } from '../../../kube/node.ts'
import { listed, message } from '../../../message/message.ts'
import type { Violation } from '../../model/rule.ts'
import { scalarsOf } from './scalars-of.ts'

/** Flux moves stringData into data, so ciphertext may stand in base64; a file that is encrypted as a whole is one value. */
export function ciphertext(value: string): string | undefined {
  const text = value.startsWith('ENC[') ? value : Buffer.from(value, 'base64').toString('latin1')
  return text.includes('ENC[AES256_GCM,') ? text : undefined
}

const PARTS = /^ENC\[AES256_GCM,data:([^,]*),iv:([^,]*),tag:([^,]*),/

/** Values of which a part was changed: whoever encrypts changes data, nonce and tag together. */
export function* damagedValues(
  { object, id, kind, node }: Subject,
  before: FleetIndex | undefined,
): Iterable<Violation> {
  const versions = before?.versionsOf(node.cluster, kind, id.namespace, id.name) ?? []
  if (versions.length === 0) return
  for (const { path } of scalarsOf(object.root)) {
    const now = partsAt(object.root, path)
    const isDamaged = versions.some(({ object: was }) => {
      const then = now && partsAt(was.root, path)
      const same = then?.filter((part, index) => part === now?.[index]).length ?? 0
      return same > 0 && same < 3
    })
    if (!isDamaged) continue
    const place = listed(
      path.map(step => quoted('field', String(step))),
      ' ',
    )
    yield {
      node,
      object,
      path,
      value: 'damaged',
      message: message`${objectPart(id.kind, id.namespace, id.name)}: the ciphertext at ${place} was changed without its key. Allowed: what SOPS wrote. Flux cannot decrypt it, and applies nothing of the Kustomization.`,
      fix: message`Restore the value from git, or change it with \`sops edit\`.`,
    }
  }
}

function partsAt(root: Subject['object']['root'], path: Path): readonly string[] | undefined {
  const value = at(root, path)
  const text = value?.type === 'scalar' && typeof value.value === 'string' ? ciphertext(value.value) : undefined
  return text === undefined ? undefined : PARTS.exec(text)?.slice(1)
}
