import { gzipSync } from 'node:zlib'
import { exportIgnored } from './export-ignore.ts'
import type { ObjectStore } from './store.ts'
import { walk } from './trees.ts'

/**
 * A gzipped tar of a commit with one top directory, as `git archive` and so GitHub makes it: what `.gitattributes`
 * marks `export-ignore` is left out, a submodule is an empty directory, and a global header names the commit.
 */
export function archive(store: ObjectStore, commit: string, top: string): Uint8Array {
  const found = store.commit(commit)
  if (!found) throw new Error(`no commit ${commit}`)
  const time = Math.floor(Date.parse(found.committer.date) / 1000)
  const blocks = [...entry('pax_global_header', 'g', 0o666, time, pax('comment', commit))]
  blocks.push(...entry(`${top}/`, '5', 0o775, time))
  const ignored = exportIgnored(store, found.tree)
  for (const { path, item } of walk(store, found.tree)) {
    if (ignored(path)) continue
    const name = `${top}/${path}`
    if (item.mode === '40000' || item.mode === '160000') blocks.push(...entry(`${name}/`, '5', 0o775, time))
    else if (item.mode === '120000') blocks.push(...symlink(name, time, Buffer.from(store.blob(item.sha)!).toString()))
    else blocks.push(...entry(name, '0', item.mode === '100755' ? 0o775 : 0o664, time, store.blob(item.sha)))
  }
  blocks.push(Buffer.alloc(1024))
  return gzipSync(Buffer.concat(blocks), { level: 1 })
}

function symlink(name: string, time: number, target: string): Uint8Array[] {
  if (Buffer.byteLength(target) <= 100) return entry(name, '2', 0o777, time, undefined, target)
  return [...entry('long.link', 'x', 0o666, time, pax('linkpath', target)), ...entry(name, '2', 0o777, time)]
}

function entry(name: string, type: string, mode: number, time: number, content?: Uint8Array, link = ''): Uint8Array[] {
  const split = splitName(name)
  if (!split) {
    const short = Buffer.from(name).subarray(-100).toString('latin1')
    const path = entry('long.name', 'x', 0o666, time, pax('path', name))
    return [...path, ...record({ name: short, prefix: '' }, type, mode, time, content, link)]
  }
  return record(split, type, mode, time, content, link)
}

type Name = { readonly name: string; readonly prefix: string }

function record(name: Name, type: string, mode: number, time: number, content?: Uint8Array, link = ''): Uint8Array[] {
  const size = content?.length ?? 0
  const octal = (value: number, width: number) => `${value.toString(8).padStart(width - 1, '0')}\0`
  const header = Buffer.alloc(512)
  header.write(name.name, 0)
  header.write(octal(mode, 8) + octal(0, 8) + octal(0, 8) + octal(size, 12) + octal(time, 12), 100)
  header.write(`        ${type}`, 148)
  header.write(link, 157)
  header.write('ustar\x0000root', 257)
  header.write('root', 297)
  header.write(octal(0, 8) + octal(0, 8), 329)
  header.write(name.prefix, 345)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  if (!content || size === 0) return [header]
  return [header, content, Buffer.alloc((512 - (size % 512)) % 512)]
}

function splitName(path: string): Name | undefined {
  if (Buffer.byteLength(path) <= 100) return { name: path, prefix: '' }
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)]
    if (Buffer.byteLength(prefix) > 155) return undefined
    if (name !== '' && Buffer.byteLength(name) <= 100) return { name, prefix }
  }
  return undefined
}

function pax(key: string, value: string): Uint8Array {
  const rest = ` ${key}=${value}\n`
  let length = Buffer.byteLength(rest)
  while (String(length).length + Buffer.byteLength(rest) !== length) {
    length = String(length).length + Buffer.byteLength(rest)
  }
  return Buffer.from(length + rest)
}
