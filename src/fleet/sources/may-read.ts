import type { KubeObject } from '../../kube/object.ts'
import { askRead, mayAskAsOperator, type ReadContext, type Reader } from './ask-read.ts'
import type { MayRead } from './sources.ts'

/** Whoever gave the input reads all of it. */
const READS_ALL: MayRead = { reader: '', ask: () => ({ state: 'read', lent: false }), asOperator: () => true }

/** Decides for one reader which sources may be read; without a view everything may. */
export function mayRead(view: ReadContext | undefined, reader: Reader): MayRead {
  if (!view) return READS_ALL
  const { tenant, writer, node, stands } = reader
  const isNew = node !== undefined && view.given.base?.follows.get(node.key) !== node.follows
  return {
    reader: JSON.stringify([view.cluster, tenant ?? null, writer ?? null, stands ?? null, isNew]),
    ask: (source: KubeObject | 'bootstrap', url: string) =>
      askRead(view, reader, source === 'bootstrap' ? undefined : source, url),
    asOperator: (source, url) => mayAskAsOperator(view, reader, source, url),
  }
}
