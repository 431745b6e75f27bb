;;; emacs_test.el --- eglot's client against the language server  -*- lexical-binding: t -*-

;; emacs --batch -q -l emacs_test.el, with the program in GALATEA_PROGRAM and the project in GALATEA_SOURCE.

(package-initialize)
(unless (require 'eglot nil t)
  (princ "SKIPPED: this Emacs has no eglot (Debian's package is elpa-eglot)\n")
  (kill-emacs 77))
(load (expand-file-name "editors/galatea.el" (getenv "GALATEA_SOURCE")) nil t)
(setcdr (assoc 'galatea-mode eglot-server-programs) (list (getenv "GALATEA_PROGRAM") "lsp"))
(setq eglot-sync-connect 60 eglot-connect-timeout 60 eglot-autoshutdown t make-backup-files nil)

(defun wait-for (what condition)
  "Wait until CONDITION gives something; that.  WHAT is for the message."
  (let ((end (+ (float-time) 60)) found)
    (while (and (not (setq found (funcall condition))) (< (float-time) end))
      (accept-process-output nil 0.05))
    (or found (error "Nothing came of %s" what))))

(defun errors ()
  "Texts of the errors in this buffer."
  (mapcar #'flymake-diagnostic-text
          (seq-filter (lambda (one) (eq (flymake-diagnostic-type one) 'eglot-error)) (flymake-diagnostics))))

(defun ask (method line column)
  "The answer to METHOD at LINE and COLUMN, both from 0."
  (goto-char (point-min))
  (forward-line line)
  (forward-char column)
  (jsonrpc-request (eglot--current-server-or-lose) method (eglot--TextDocumentPositionParams)))

(let* ((folder (make-temp-file "galatea" t))
       (file (expand-file-name "train.dali-dsl" folder)))
  (with-temp-file file
    (insert "from nvidia.dali import fn, pipeline_def\n\n\n@pipeline_def(batch_size=2)\n"
            "def train(data: str):\n"
            "    encoded, label = fn.readers.file(file_root=data)\n"
            "    image = fn.decoders.image(encoded)\n"
            "    return fn.rotate(image, angel=3), label\n"))
  (find-file file)
  (unless (eq major-mode 'galatea-mode) (error "The mode is %s" major-mode))
  (unless (eglot-current-server) (apply #'eglot (eglot--guess-contact)))
  (wait-for "a connection" #'eglot-current-server)
  (flymake-mode 1)
  (flymake-start)
  (let ((found (wait-for "diagnostics" #'errors)))
    (unless (string-match-p "angel" (car found)) (error "The error is another one: %s" found)))
  (let ((hover (plist-get (plist-get (ask :textDocument/hover 6 6) :contents) :value)))
    (unless (string-match-p "image: u8" hover) (error "Hover: %s" hover)))
  (let ((items (plist-get (ask :textDocument/completion 7 17) :items)))
    (unless (seq-find (lambda (one) (equal (plist-get one :label) "rotate")) items)
      (error "Completion has no rotate")))
  (goto-char (point-min))
  (search-forward "angel")
  (replace-match "angle")
  (eglot--signal-textDocument/didChange)
  (wait-for "the correction" (lambda () (flymake-start) (null (errors))))
  (set-buffer-modified-p nil)
  (eglot-shutdown (eglot--current-server-or-lose))
  (delete-directory folder t)
  (princ "Emacs and the server understand each other\n"))
;;; emacs_test.el ends here
