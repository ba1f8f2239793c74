import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Architecture } from './architecture.ts'
import { digestOf, type Layer, USER } from './tar-layer.ts'

/** The image for one architecture. */
export interface Image {
  readonly architecture: Architecture
  readonly layers: readonly Layer[]
}

export interface ImageFacts {
  readonly version: string
  /** Commit of the sources and its time (ISO 8601). */
  readonly revision: string
  readonly created: string
}

/** The default process of a container; it matches the Dockerfile. */
export const IMAGE_CONFIG = {
  User: `${USER}:${USER}`,
  ExposedPorts: { '3000/tcp': {} },
  Env: ['PATH=/usr/local/bin', 'NODE_ENV=production', 'NODE_OPTIONS=--enable-source-maps'],
  Cmd: ['node', 'dist/web.js'],
  WorkingDir: '/app',
  // a Docker extension: OCI defines no health checks, and other runtimes ignore it
  Healthcheck: { Test: ['CMD', 'node', 'dist/probe.js', 'http://127.0.0.1:3000/readyz'] },
} as const

interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
}

/** Writes an OCI image layout (image-spec 1.1) with one index of all images to a folder; returns the digest of the index. */
export function writeOciLayout(folder: string, images: readonly Image[], facts: ImageFacts): string {
  const blobs = join(folder, 'blobs/sha256')
  mkdirSync(blobs, { recursive: true })
  const write = (mediaType: string, content: Buffer | object): Descriptor => {
    const bytes = Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content))
    const digest = digestOf(bytes)
    writeFileSync(join(blobs, digest.replace('sha256:', '')), bytes)
    return { mediaType, digest, size: bytes.length }
  }
  const annotations = {
    'org.opencontainers.image.title': 'bailiwick',
    'org.opencontainers.image.version': facts.version,
    'org.opencontainers.image.revision': facts.revision,
    'org.opencontainers.image.created': facts.created,
    'org.opencontainers.image.licenses': 'Apache-2.0',
  }
  const manifests = images.map(({ architecture, layers }) => {
    const platform = { architecture: architecture.oci, os: 'linux' }
    const config = write('application/vnd.oci.image.config.v1+json', {
      ...{ created: facts.created, ...platform, config: { ...IMAGE_CONFIG, Labels: annotations } },
      rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    })
    const manifest = write(MANIFEST, {
      ...{ schemaVersion: 2, mediaType: MANIFEST, config },
      layers: layers.map(({ bytes }) => write('application/vnd.oci.image.layer.v1.tar+gzip', bytes)),
      annotations,
    })
    return { ...manifest, platform }
  })
  const index = write(INDEX, { schemaVersion: 2, mediaType: INDEX, manifests, annotations })
  const named = { ...index, annotations: { 'org.opencontainers.image.ref.name': facts.version } }
  writeFileSync(join(folder, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}')
  writeFileSync(join(folder, 'index.json'), JSON.stringify({ schemaVersion: 2, mediaType: INDEX, manifests: [named] }))
  return index.digest
}

const MANIFEST = 'application/vnd.oci.image.manifest.v1+json'
const INDEX = 'application/vnd.oci.image.index.v1+json'
