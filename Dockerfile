FROM node:24-slim
ENV NODE_ENV=production
WORKDIR /app

COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts && npm cache clean --force

COPY app.yml ./
COPY src ./src
COPY workers ./workers

RUN mkdir -p /var/cache/bailiwick && chown node:node /var/cache/bailiwick
USER node
EXPOSE 3000
CMD ["node", "src/index.ts"]
